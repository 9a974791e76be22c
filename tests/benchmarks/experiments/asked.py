"""A small case, and a policy asked in one case without a job."""

from agents.policy import Reply
from benchmarks.experiments.asking import Case, ask_in_batches
from llmarena_envs.core.failures import Failure, ParseError, Reason


class Numbers(Case):
    """Asks for even numbers."""

    max_batch = 5
    example = "2 4"

    def __init__(self, name="even", **sizes):
        super().__init__(name, "benchmarks.llmarena.description_judge", "en", **sizes)

    def request(self, accepted, last, wanted):
        return wanted, accepted, last

    def texts(self, request):
        wanted, accepted, last = request
        return "Even numbers only.", f"{wanted} more than {list(accepted)}; {sum(1 for _, bad in last if bad)} refused"

    def read(self, reply):
        try:
            return tuple(map(int, reply.split()))
        except ValueError:
            raise ParseError(Failure.UNPARSABLE, "nothing_stated") from None

    def check(self, items, accepted):
        return [(item, Reason("odd") if item % 2 else None) for item in items]


def ask(case, policy, agent="examiner_0", seed=1):
    """Returns the answer of a policy that replies at once, and the requests that it was sent."""
    if hasattr(policy, "reset"):
        policy.reset(agent, seed)
    steps, prompts = ask_in_batches(case, agent), []
    prompt = next(steps)
    while True:
        prompts.append(prompt)
        reply = policy(prompt.request if getattr(policy, "reads", "text") == "view" else prompt.observation())
        try:
            prompt = steps.send(reply if isinstance(reply, Reply) else Reply(reply))
        except StopIteration as done:
            return done.value, prompts


def replies(*texts):
    """Returns a policy that gives these replies, one per request."""
    left = iter(texts)
    return lambda observation: next(left)
