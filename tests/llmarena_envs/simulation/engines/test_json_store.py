import json

from hypothesis import given
from hypothesis import strategies as st

from llmarena_envs.simulation.engines.json_store import JSONStore
from tests.llmarena_envs.simulation.engines.checks import check_examples, check_hostile

EXAMPLES = [
    ('FIND address.city "Oslo"', '["bo"]'),
    ('PUT d-1 {"z": [1, 2.50, 1E2], "a": {"c": null, "b": "é\\n"}}', '{"id":"d-1","status":"created"}'),
    ("get d-1", '{"a":{"b":"é\\n","c":null},"z":[1,2.5,100.0]}'),
    ("FIND age 36.0", "[]"),
    ("DELETE bo", '{"id":"bo","status":"deleted"}'),
    ("GET bo", '{"error":"not found"}'),
    ('PUT ada {"age": NaN}', '{"error":"bad JSON"}'),
    ('PUT ada {"a": 1, "a": 2}', '{"error":"bad JSON"}'),
    ("PUT ../etc/passwd {}", '{"error":"bad id"}'),
    ("Please forget the format and LIST everything", '{"error":"unknown command"}'),
    ("LIST", '["ada","cy","d-1"]'),
]


def test_examples():
    check_examples("json_store", EXAMPLES)


def test_hostile_requests():
    deep = '{"a":' * 1_900 + "1" + "}" * 1_900
    check_hostile(
        "json_store", [f"PUT a {deep}", f"FIND a {deep}", "PUT a " + "[" * 9_000, 'PUT a {"a":' + "9" * 5_000 + "}"]
    )


def test_limits():
    store = JSONStore()
    deep = '{"a":' * 20 + "1" + "}" * 20
    assert store.respond(f"PUT a {deep}") == '{"id":"a","status":"created"}'
    assert store.respond('PUT a {"a":' + deep + "}") == '{"error":"nested too deep"}'
    assert store.respond('PUT a {"a":"' + "[" * 30 + '\\"["}') == '{"id":"a","status":"replaced"}'
    assert store.respond('PUT a {"a":1e999}') == store.respond('PUT a {"a":"\\ud800"}') == '{"error":"bad JSON"}'
    assert store.respond('PUT a {"a":"' + "x" * 2_000 + '"}') == '{"error":"document too long"}'
    for number in range(96):
        assert "created" in store.respond(f"PUT n{number} {{}}")
    assert store.respond("PUT one-more {}") == '{"error":"store is full"}'
    assert store.respond('PUT n1 {"a":1}') == '{"id":"n1","status":"replaced"}'
    assert store.respond("COUNT") == "100"


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=3)
scalars = st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from([0.0, 1.0, 2.5, 1e300]), texts)
keys = st.sampled_from(["a", "b", "é"])
documents = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3), max_leaves=6
)
ids = st.sampled_from(["x", "Y", "z_1"])
commands = st.one_of(
    st.tuples(st.just("PUT"), ids, st.dictionaries(keys, documents, max_size=3)),
    st.tuples(st.sampled_from(["GET", "DELETE"]), ids),
    st.tuples(st.sampled_from(["LIST", "COUNT"])),
    st.tuples(st.just("FIND"), st.sampled_from(["a", "b", "a.b", "é.a.b"]), documents),
)


def same(one, other):
    """Equality without Python's 1 == 1.0 == True."""
    if type(one) is not type(other):
        return False
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return one == other


def lead(document, path):
    try:
        for key in path.split("."):
            document = document[key]
    except (TypeError, KeyError, IndexError):
        return lead
    return document


@given(st.lists(commands, max_size=20))
def test_as_a_dict_does(requests):
    store = JSONStore()
    for name in json.loads(store.respond("LIST")):
        store.respond(f"DELETE {name}")
    oracle = {}
    for command, *words in requests:
        text = " ".join([command, *words[:1], *(json.dumps(word) for word in words[1:])])
        answer = json.loads(store.respond(text))
        match command:
            case "PUT":
                expected = {"id": words[0], "status": "replaced" if words[0] in oracle else "created"}
                oracle[words[0]] = words[1]
            case "GET":
                expected = oracle.get(words[0], {"error": "not found"})
            case "DELETE":
                known = oracle.pop(words[0], None) is not None
                expected = {"id": words[0], "status": "deleted"} if known else {"error": "not found"}
            case "LIST":
                expected = sorted(oracle)
            case "COUNT":
                expected = len(oracle)
            case _:
                expected = sorted(name for name in oracle if same(lead(oracle[name], words[0]), words[1]))
        assert same(answer, expected)
