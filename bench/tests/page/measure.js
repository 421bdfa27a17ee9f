// Measures the page that it stands in, as the browser has laid it out, and hands a list of what
// is wrong to the page around it.
"use strict";
(() => {
  // Boxes are rounded to pixels, and a text's box is higher than its letters.
  const TOLERANCE = 1.5;
  // What a reader sees before scrolling.
  const FIRST_SCREEN = 800;
  const findings = [];

  const visible = (element) => element.checkVisibility() && element.getBoundingClientRect().width > 0;
  const called = (element) => {
    const text = element.textContent.trim().replace(/\s+/g, " ").slice(0, 60);
    const what = element.getAttribute("class") || element.tagName.toLowerCase();
    return text ? `${what} "${text}"` : what;
  };
  const overlap = (one, other) =>
    Math.min(one.right, other.right) - Math.max(one.left, other.left) > TOLERANCE &&
    Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > TOLERANCE;
  const within = (inner, outer) =>
    inner.left >= outer.left - TOLERANCE && inner.right <= outer.right + TOLERANCE &&
    inner.top >= outer.top - TOLERANCE && inner.bottom <= outer.bottom + TOLERANCE;

  // A text's box without the leading above and below its letters.
  const box = (element) => {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    const leading = element.tagName === "text" ? (bottom - top) * 0.12 : 0;
    return { left, right, top: top + leading, bottom: bottom - leading };
  };

  // In a chart no text lies on another text, on a bar or on a point, points of a chart that is not
  // loose do not lie on one another, and all is within the chart.
  const chart = (svg) => {
    const place = svg.getBoundingClientRect();
    const boxes = [...svg.querySelectorAll("text, .marker, .bar")]
      .filter((element) => element.tagName !== "text" || element.textContent.trim() !== "")
      .map((element) => ({ element, box: box(element), isText: element.tagName === "text" }))
      .sort((one, other) => one.box.top - other.box.top);
    boxes.forEach(({ element, box }) => {
      if (!within(box, place)) findings.push(`cut off: ${called(element)}`);
    });
    boxes.forEach((one, at) => {
      for (const other of boxes.slice(at + 1)) {
        if (other.box.top > one.box.bottom) break;
        const counts = one.isText || other.isText || !svg.hasAttribute("data-loose");
        if (counts && overlap(one.box, other.box)) {
          findings.push(`overlap: ${called(one.element)} and ${called(other.element)}`);
        }
      }
    });
    if (svg.getAttribute("role") !== "img" || !svg.querySelector("title")?.textContent || !svg.querySelector("desc")?.textContent) {
      findings.push("a chart without a text");
    }
  };

  // What is wider than the page scrolls in a box of its own; nothing else may be wider.
  const scrolls = (element) => ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
  const blocks = () => {
    const page = document.documentElement;
    if (page.scrollWidth > window.innerWidth) {
      findings.push(`the page is ${page.scrollWidth} pixels wide, the window ${window.innerWidth}`);
    }
    const walk = (parent, place) => {
      const children = [...parent.children].filter(visible);
      children.forEach((child) => {
        const box = child.getBoundingClientRect();
        const style = getComputedStyle(child);
        if (box.left < place.left - TOLERANCE || box.right > place.right + TOLERANCE) {
          findings.push(`cut off: ${called(child)}`);
        }
        if (["hidden", "clip"].includes(style.overflowX) && child.scrollWidth > child.clientWidth + TOLERANCE) {
          findings.push(`cut off: ${called(child)}`);
        }
        if (child.tagName === "svg") chart(child);
        // What is written in a row stands where the browser breaks it.
        else if (style.display !== "inline") walk(child, scrolls(child) ? { left: -Infinity, right: Infinity } : place);
      });
      const apart = children.filter((child) => getComputedStyle(child).display !== "inline");
      apart.forEach((one, at) => apart.slice(at + 1).forEach((other) => {
        if (overlap(one.getBoundingClientRect(), other.getBoundingClientRect())) {
          findings.push(`overlap: ${called(one)} and ${called(other)}`);
        }
      }));
    };
    walk(document.body, { left: 0, right: window.innerWidth });
  };

  // Text that its own box does not hold, and that the browser would let run over what is beside it.
  const texts = () => {
    for (const element of document.querySelectorAll("h1, h2, h3, p, li, dt, dd, figcaption, th, td, summary")) {
      if (!visible(element) || element.textContent.trim() === "") continue;
      const range = document.createRange();
      range.selectNodeContents(element);
      const { left, right } = element.getBoundingClientRect();
      const inner = range.getBoundingClientRect();
      if (inner.left < left - TOLERANCE || inner.right > right + TOLERANCE) findings.push(`runs over: ${called(element)}`);
    }
  };

  const firstScreen = () => {
    const red = document.querySelector(".below li");
    if (red && red.getBoundingClientRect().bottom + window.scrollY > FIRST_SCREEN) {
      findings.push(`not on the first screen: ${called(red)}`);
    }
  };

  window.addEventListener("load", () => {
    document.querySelectorAll("details").forEach((details) => { details.open = true; });
    blocks();
    texts();
    firstScreen();
    const counts = ["svg", "svg text", "svg .marker", "svg .bar"].map((what) => {
      return [...document.querySelectorAll(what)].filter(visible).length;
    });
    window.parent.postMessage(JSON.stringify({ width: window.innerWidth, counts, findings }), "*");
  });
})();
