"""A phone: a narrow window, fingers instead of a mouse, and targets that they can reach."""

from collections.abc import Sequence
from typing import Any

from playwright.sync_api import Frame, Page

Point = tuple[float, float]

# As a browser on a phone: a finger is coarse and does not hover.
PHONE: dict[str, Any] = {
    "viewport": {"width": 320, "height": 640},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
}

# Everything that can be used, as what a finger hits: a label counts for its field.
_TARGETS = """
  const fields = "a[href], button, summary, input, textarea, select";
  const hits = [...document.querySelectorAll(fields)]
    .filter((one) => one.checkVisibility({visibilityProperty: true}) && !one.closest(".unseen"))
    .map((one) => one.closest("label") ?? one);
  const targets = [...new Set(hits)];
  const nameOf = (one) => {
    const {width, height} = one.getBoundingClientRect();
    const text = one.getAttribute("aria-label") ?? one.textContent.trim().slice(0, 40);
    return `${one.tagName} "${text}" ${Math.round(width)}×${Math.round(height)}`;
  };
"""
# 44 pixels each way; a minor one needs 24, and as much room round its middle for itself.
_SMALL = f"""() => {{ {_TARGETS}
  const boxes = targets.map((one) => one.getBoundingClientRect());
  const isLarge = (box) => box.width >= 43.5 && box.height >= 43.5;
  const hasRoom = (box, at) => {{
    if (box.width < 24 || box.height < 24) return false;
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    return boxes.every((other, index) => {{
      if (index === at || targets[index].contains(targets[at])) return true;
      const dx = Math.max(other.left - x, 0, x - other.right);
      const dy = Math.max(other.top - y, 0, y - other.bottom);
      return Math.hypot(dx, dy) >= 12;
    }});
  }};
  return targets.filter((_, at) => !isLarge(boxes[at]) && !hasRoom(boxes[at], at)).map(nameOf);
}}"""
_COVERED = f"""() => {{ {_TARGETS}
  const isHit = (one, block) => {{
    one.scrollIntoView({{block, inline: "center", behavior: "instant"}});
    const {{x, y, width, height}} = one.getBoundingClientRect();
    const hit = document.elementFromPoint(x + width / 2, y + height / 2);
    return hit !== null && (one.contains(hit) || one === hit.closest("label"));
  }};
  const covered = targets.filter((one) => !isHit(one, "center") && !isHit(one, "start"));
  scrollTo({{top: 0, behavior: "instant"}});
  return covered.map(nameOf);
}}"""
_SIDEWAYS = """() => {
  const root = document.documentElement;
  const wide = [...document.body.querySelectorAll("*")].filter((one) => {
    const {left, right, width} = one.getBoundingClientRect();
    const clipped = one.closest(".steps, .photo-stage, .unseen, .editor-said");
    return width > 0 && !clipped && (left < -1 || right > root.clientWidth + 1);
  });
  const named = wide.map((one) => `${one.tagName}.${one.className} sticks out`);
  return root.scrollWidth > root.clientWidth ? ["it scrolls sideways", ...named] : named;
}"""


def out_of_reach(page: Frame | Page) -> list[str]:
    """Return what a thumb could not use: what is too wide, too small, or covered."""
    found: list[str] = []
    for script in (_SIDEWAYS, _SMALL, _COVERED):
        found += page.evaluate(script)
    return found


class Fingers:
    """One or more fingers on the screen."""

    def __init__(self, page: Page) -> None:
        self._session = page.context.new_cdp_session(page)

    def _send(self, kind: str, points: Sequence[Point]) -> None:
        touches = [{"x": x, "y": y, "id": at} for at, (x, y) in enumerate(points)]
        self._session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})

    def tap(self, point: Point) -> None:
        self.swipe([point])

    def swipe(self, *ways: Sequence[Point]) -> None:
        """Put down a finger for each way, move all at once, and lift them."""
        first, *steps = zip(*ways, strict=True)
        self._send("touchStart", first)
        for step in steps:
            self._send("touchMove", step)
        self._send("touchEnd", [])
