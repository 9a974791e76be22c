"""Reading pictures as SVG in tests."""

from xml.etree import ElementTree

from llmarena_envs.core.svg import text_width

SVG = "{http://www.w3.org/2000/svg}"


def replies(picture: str) -> list[str]:
    """Returns what can be replied by pointing at the picture."""
    return [reply for element in ElementTree.fromstring(picture).iter() if (reply := element.get("data-reply"))]


def texts(picture: str) -> list[str]:
    """Returns the texts that are drawn."""
    return [element.text or "" for element in ElementTree.fromstring(picture).iter(f"{SVG}text")]


def described(picture: str) -> list[str]:
    """Returns the description for screen readers, part by part."""
    return (ElementTree.fromstring(picture).findtext(f"{SVG}desc") or "").split("; ")


def texts_outside(picture: str) -> list[str]:
    """Returns the texts that reach beyond the picture, as wide as they are estimated to be."""
    root = ElementTree.fromstring(picture)
    width, height = float(root.get("width", "")), float(root.get("height", ""))
    outside = []
    for element in root.iter(f"{SVG}text"):
        x, y, size = (float(element.get(name, "")) for name in ("x", "y", "font-size"))
        long = text_width(element.text or "", size, element.get("font-weight") == "bold")
        left = x - long * {"middle": 0.5, "end": 1.0}.get(element.get("text-anchor", ""), 0.0)
        if not (left >= 0 and left + long <= width and size <= y + 2 and y <= height):
            outside.append(element.text or "")
    return outside


def shown(picture: str) -> str:
    """Returns the texts that are drawn, line by line, and below them the description for screen readers."""
    description = ElementTree.fromstring(picture).findtext(f"{SVG}desc") or ""
    return "\n".join([*texts(picture), description]).replace("\u00a0", " ")


def height(picture: str) -> float:
    """Returns the height of a picture in pixels."""
    return float(ElementTree.fromstring(picture).attrib["height"])
