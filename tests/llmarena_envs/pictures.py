"""What can be read in pictures, and pointed at."""

from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"


def shown(picture: str) -> str:
    """Returns the texts that stand in a picture, line by line, and below them what a screen reader says."""
    root = ElementTree.fromstring(picture)
    lines = [element.text or "" for element in root.iter(f"{SVG}text")]
    description = root.find(f"{SVG}desc")
    return "\n".join([*lines, "" if description is None else description.text or ""]).replace("\u00a0", " ")


def replies(picture: str) -> list[str]:
    """Returns the replies of what can be pointed at."""
    found = [element.get("data-reply") for element in ElementTree.fromstring(picture).iter()]
    return [reply for reply in found if reply]


def height(picture: str) -> float:
    """Returns the height of a picture in pixels."""
    return float(ElementTree.fromstring(picture).attrib["height"])
