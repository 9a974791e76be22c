"""A calendar of appointments, on a day that is always the same."""

import re
from datetime import date, timedelta
from typing import ClassVar, NamedTuple

from llmarena_envs.simulation.engines.lines import LineEngine, Refused

TODAY = date(2026, 3, 2)
"""A Monday."""
DAY_BEGINS, DAY_ENDS = 8 * 60, 18 * 60
"""The minutes of a day between which ``FREE`` looks for free time."""
MIDNIGHT = 24 * 60
MAX_APPOINTMENTS = 50
MAX_TITLE = 60
"""Characters of a title."""
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_DAYS = re.compile(r"([+-][0-9]{1,4})")
_TIME = re.compile(r"([0-9]{1,2}):([0-9]{2})")
_DURATION = re.compile(r"(?=.)(?:([0-9]{1,2})h)?(?:([0-9]{1,4})m)?")
_NUMBER = re.compile(r"#?([0-9]{1,9})")


class Appointment(NamedTuple):
    """An appointment; they sort by time.

    Attributes:
        day: on which it is.
        start: minutes after midnight.
        end: minutes after midnight, later than the start.
        number: by which requests name it.
        title: of it.
    """

    day: date
    start: int
    end: int
    number: int
    title: str

    def __str__(self) -> str:
        return f"#{self.number} {self.day} {_clock(self.start)}-{_clock(self.end)} {self.title}"


class Calendar(LineEngine):
    """Answers ADD, LIST, MOVE, DELETE, FREE, WEEKDAY and DIFF; no two appointments overlap."""

    name: ClassVar[str] = "calendar"

    def __init__(self) -> None:
        self._appointments = {
            1: Appointment(date(2026, 3, 2), 9 * 60, 9 * 60 + 30, 1, "Stand-up"),
            2: Appointment(date(2026, 3, 2), 14 * 60, 15 * 60 + 30, 2, "Budget review"),
            3: Appointment(date(2026, 3, 4), 11 * 60, 12 * 60, 3, "Dentist"),
        }
        self._next_number = 4

    def _run(self, command: str) -> str:
        name, *words = command.split()
        match name.upper(), words:
            case "ADD", [date_word, time, duration, _, *_]:
                return self._add(_day(date_word), _minutes(time), _length(duration), " ".join(words[3:]))
            case "LIST", []:
                return self._listed(list(self._appointments.values()), "no appointments")
            case "LIST", [date_word]:
                day = _day(date_word)
                return self._listed(self._on(day), f"no appointments on {day}")
            case "MOVE", [number, date_word, time]:
                return self._move(self._known(number), _day(date_word), _minutes(time))
            case "DELETE", [number]:
                return f"deleted {self._appointments.pop(self._known(number).number)}"
            case "FREE", [date_word]:
                return self._free(_day(date_word))
            case "WEEKDAY", [date_word]:
                day = _day(date_word)
                return f"{day} is a {WEEKDAYS[day.weekday()]}"
            case "DIFF", [first, second]:
                start, end = _day(first), _day(second)
                days = (end - start).days
                return f"{days} {'day' if abs(days) == 1 else 'days'}"
            case (("ADD" | "LIST" | "MOVE" | "DELETE" | "FREE" | "WEEKDAY" | "DIFF"), _):
                raise Refused(f"wrong number of arguments for {name.upper()}")
        raise Refused(f"unknown command {name}")

    def _add(self, day: date, start: int, length: int, title: str) -> str:
        if len(title) > MAX_TITLE:
            raise Refused(f"title longer than {MAX_TITLE} characters")
        if len(self._appointments) == MAX_APPOINTMENTS:
            raise Refused("calendar is full")
        new = self._place(Appointment(day, start, start + length, self._next_number, title))
        self._next_number += 1
        return f"added {new}"

    def _move(self, appointment: Appointment, day: date, start: int) -> str:
        end = start + appointment.end - appointment.start
        return f"moved {self._place(appointment._replace(day=day, start=start, end=end))}"

    def _place(self, appointment: Appointment) -> Appointment:
        """Enters an appointment, in the place of the one with its number."""
        if appointment.end > MIDNIGHT:
            raise Refused("ends after midnight")
        for other in self._on(appointment.day):
            if other.number != appointment.number and other.start < appointment.end and appointment.start < other.end:
                raise Refused(f"conflict with {other}")
        self._appointments[appointment.number] = appointment
        return appointment

    def _on(self, day: date) -> list[Appointment]:
        """Returns the appointments of a day by time."""
        return sorted(appointment for appointment in self._appointments.values() if appointment.day == day)

    def _known(self, word: str) -> Appointment:
        match = _NUMBER.fullmatch(word)
        if match is None:
            raise Refused(f"bad number {word}")
        if int(match[1]) not in self._appointments:
            raise Refused(f"no appointment #{int(match[1])}")
        return self._appointments[int(match[1])]

    @staticmethod
    def _listed(appointments: list[Appointment], otherwise: str) -> str:
        return "\n".join(map(str, sorted(appointments))) or otherwise

    def _free(self, day: date) -> str:
        free: list[str] = []
        start = DAY_BEGINS
        for appointment in self._on(day):
            if start < min(appointment.start, DAY_ENDS):
                free.append(f"{_clock(start)}-{_clock(min(appointment.start, DAY_ENDS))}")
            start = max(start, appointment.end)
        if start < DAY_ENDS:
            free.append(f"{_clock(start)}-{_clock(DAY_ENDS)}")
        return "\n".join(free) or f"no free time on {day}"

    def state(self) -> str:
        """Returns today, the next number, and all appointments by time."""
        lines = [f"today {TODAY}", f"next number {self._next_number}"]
        return "\n".join([*lines, *map(str, sorted(self._appointments.values()))])


def _clock(minutes: int) -> str:
    return f"{minutes // 60:02}:{minutes % 60:02}"


def _day(word: str) -> date:
    """Reads 2026-03-05, today, tomorrow, +3, or a weekday: the next such day after today."""
    name = word.lower()
    try:
        if match := _DATE.fullmatch(name):
            return date(int(match[1]), int(match[2]), int(match[3]))
        if match := _DAYS.fullmatch(name):
            return TODAY + timedelta(days=int(match[1]))
    except ValueError:
        raise Refused(f"bad date {word}") from None
    if name in ("today", "tomorrow"):
        return TODAY + timedelta(days=int(name == "tomorrow"))
    if name.capitalize() in WEEKDAYS:
        return TODAY + timedelta(days=(WEEKDAYS.index(name.capitalize()) - TODAY.weekday() - 1) % 7 + 1)
    raise Refused(f"bad date {word}")


def _minutes(word: str) -> int:
    """Reads a time of the day from 00:00 to 23:59."""
    match = _TIME.fullmatch(word)
    if match is None or int(match[1]) > 23 or int(match[2]) > 59:
        raise Refused(f"bad time {word}")
    return 60 * int(match[1]) + int(match[2])


def _length(word: str) -> int:
    """Reads a duration such as 45m, 2h or 1h30m, in minutes."""
    match = _DURATION.fullmatch(word.lower())
    minutes = 60 * int(match[1] or 0) + int(match[2] or 0) if match else 0
    if not minutes:
        raise Refused(f"bad duration {word}")
    return minutes
