"""A cipher machine with five modes, one of which turns its rotors with every letter."""

from collections.abc import Iterator
from string import ascii_uppercase
from typing import ClassVar

from llmarena_envs.simulation.engines.lines import LineEngine, Refused

MAX_KEY = 20
"""Letters of a Vigenère key."""
SLOW_ROTOR = "XVEHWKUQOAINPCJRLYBZSFTDGM"
FAST_ROTOR = "KXEQVZOYDCSHRJGTNUMLAIBFWP"
"""What the contacts of a rotor are wired to, for A to Z."""

_FIRST_KEYS = {
    "caesar": "3",
    "vigenere": "RIVER",
    "atbash": "none",
    "substitution": "HWARPMKVEUZXTYFGCNBJLSDOIQ",
    "rotor": "AA",
}


class CipherMachine(LineEngine):
    """Encodes and decodes the letters A to Z; what else is in a text stays.

    The machine keeps a key for each mode. The rotors turn with every letter that is encoded or decoded in the mode ``rotor``, and
    stand where they stand until a key is set.
    """

    name: ClassVar[str] = "cipher"

    def __init__(self) -> None:
        self._mode = "caesar"
        self._keys = dict(_FIRST_KEYS)
        self._position = self._keys["rotor"]

    def _run(self, command: str) -> str:
        name, *rests = command.split(maxsplit=1)
        rest = "".join(rests)
        match name.upper():
            case "MODE":
                return self._change_mode(rest.lower())
            case "SETKEY":
                return self._set_key(rest.upper() if rest.isascii() else rest)
            case "ENCODE" | "DECODE":
                if not rest:
                    raise Refused("no text")
                return self._translate(rest, back=name.upper() == "DECODE")
            case "STATUS" if not rest:
                return self._status(self._mode)
            case "STATUS":
                raise Refused("STATUS takes no argument")
        raise Refused(f"unknown command {name}")

    def _change_mode(self, mode: str) -> str:
        if mode not in self._keys:
            raise Refused(f"unknown mode, choose {', '.join(self._keys)}")
        self._mode = mode
        return "OK"

    def _set_key(self, key: str) -> str:
        letters = set(key) <= set(ascii_uppercase)
        match self._mode:
            case "caesar":
                if not (key.isascii() and key.isdigit() and len(key) <= 2 and int(key) <= 25):
                    raise Refused("the key of caesar is a number from 0 to 25")
                key = str(int(key))
            case "vigenere" if not (letters and 1 <= len(key) <= MAX_KEY):
                raise Refused(f"the key of vigenere is 1 to {MAX_KEY} letters")
            case "atbash":
                raise Refused("atbash has no key")
            case "substitution" if sorted(key) != list(ascii_uppercase):
                raise Refused("the key of substitution is all 26 letters, each once")
            case "rotor":
                if not (letters and len(key) == 2):
                    raise Refused("the key of rotor is 2 letters")
                self._position = key
        self._keys[self._mode] = key
        return "OK"

    def _status(self, mode: str) -> str:
        position = f" position={self._position}" if mode == "rotor" else ""
        return f"mode={mode} key={self._keys[mode]}{position}"

    def _translate(self, text: str, back: bool) -> str:
        alphabets = self._alphabets()
        return "".join(_translated(letter, alphabets, back) for letter in text)

    def _alphabets(self) -> Iterator[str]:
        """Yields for each next letter what A to Z become."""
        key = self._keys[self._mode]
        match self._mode:
            case "caesar":
                while True:
                    yield _shifted(int(key))
            case "vigenere":
                while True:
                    yield from map(_shifted, map(ascii_uppercase.index, key))
            case "atbash":
                while True:
                    yield ascii_uppercase[::-1]
            case "substitution":
                while True:
                    yield key
            case "rotor":
                while True:
                    yield self._turn()

    def _turn(self) -> str:
        """Turns the fast rotor by one, and the slow one with it when it comes to A again; returns what A to Z become."""
        slow, fast = map(ascii_uppercase.index, self._position)
        fast = (fast + 1) % 26
        slow = (slow + (fast == 0)) % 26
        self._position = ascii_uppercase[slow] + ascii_uppercase[fast]
        return "".join(
            ascii_uppercase[_through(SLOW_ROTOR, slow, _through(FAST_ROTOR, fast, place))] for place in range(26)
        )

    def state(self) -> str:
        """Returns the mode, and the key of each mode."""
        return "\n".join([f"current mode {self._mode}", *map(self._status, self._keys)])


def _translated(letter: str, alphabets: Iterator[str], back: bool) -> str:
    """Returns what a letter becomes, in its own case; anything else stays and uses up no alphabet."""
    upper = letter.upper()
    if not ("a" <= letter <= "z" or "A" <= letter <= "Z"):
        return letter
    alphabet = next(alphabets)
    found = ascii_uppercase[alphabet.index(upper)] if back else alphabet[ascii_uppercase.index(upper)]
    return found if letter == upper else found.lower()


def _shifted(places: int) -> str:
    return ascii_uppercase[places:] + ascii_uppercase[:places]


def _through(wiring: str, position: int, place: int) -> int:
    """Returns where a current comes out of a rotor that stands at a position."""
    return (ascii_uppercase.index(wiring[(place + position) % 26]) - position) % 26
