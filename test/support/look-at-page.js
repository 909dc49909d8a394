// Runs in a page. Returns what sticks out of the screen, headings that skip a level, and text without enough contrast.
globalThis.lookAtPage = () => {
  const faults = [];
  const { scrollWidth } = document.documentElement;
  if (scrollWidth > innerWidth) faults.push(`is ${scrollWidth} wide on a screen of ${innerWidth}`);
  const levels = [...document.querySelectorAll('h1, h2, h3, h4')].map((heading) =>
    Number(heading.tagName[1]),
  );
  for (const [i, level] of levels.entries()) {
    const before = levels[i - 1] ?? 0;
    if (level > before + 1) faults.push(`has a heading ${level} below ${before}`);
  }
  const colour = (text) => {
    const [red = 0, green = 0, blue = 0, alpha = 1] = (text.match(/[\d.]+/g) ?? []).map(Number);
    return { parts: [red, green, blue], alpha };
  };
  // WCAG 2.2, "relative luminance".
  const luminance = ({ parts }) => {
    const [r, g, b] = parts.map((value) =>
      value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const found = colour(getComputedStyle(at).backgroundColor);
      if (found.alpha === 1) return found;
    }
    return { parts: [255, 255, 255], alpha: 1 };
  };
  const seen = new Set();
  for (const element of document.querySelectorAll('main *, header *, nav *')) {
    const isText = [...element.childNodes].some(
      (child) => child.nodeType === 3 && child.textContent.trim() !== '',
    );
    if (!isText || element.closest('svg') || !element.checkVisibility()) continue;
    const [text, ground] = [colour(getComputedStyle(element).color), behind(element)];
    const pair = `${text.parts} on ${ground.parts}`;
    if (seen.has(pair)) continue;
    seen.add(pair);
    const [a, b] = [luminance(text), luminance(ground)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5)
      faults.push(`has "${element.textContent.slice(0, 30)}", ${pair}, a contrast of ${ratio.toFixed(2)}`);
  }
  return faults;
};
