/** Colours of the console: whether text in them is legible, by WCAG 2.2. */

type Rgb = readonly [number, number, number];

/** The grounds that text stands on, of console/styles/base.css. A test holds the two together. */
export const GROUNDS = {
  light: { ground: '#f6f7f9', panel: '#ffffff' },
  dark: { ground: '#0f1116', panel: '#171a21' },
} as const;

/** The least contrast of a text of normal size (WCAG 2.2, 1.4.3). */
export const CONTRAST_MIN = 4.5;
const WHITE = '#ffffff';
const INK = '#10131c';
/** How much of the accent is in the ground of a chosen entry. */
const SOFT = { light: 0.09, dark: 0.2 } as const;
const LIGHTER_BY = 0.05;

/** The colours of one theme: the accent, a ground with a touch of it, and the text on it. */
export interface Accent {
  readonly accent: string;
  readonly soft: string;
  readonly onAccent: string;
}

function rgbOf(colour: string): Rgb {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
  return [red, green, blue];
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = rgbOf(colour).map((value) =>
    value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Returns the contrast of two colours, 1 to 21. */
export function contrast(one: string, other: string): number {
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

/** Returns a colour with a share of another one in it. */
function mixed(colour: string, other: string, share: number): string {
  const [from, to] = [rgbOf(colour), rgbOf(other)];
  const parts = from.map((value, index) => Math.round(value + ((to[index] ?? 0) - value) * share));
  return `#${parts.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}

function accentOn(theme: keyof typeof GROUNDS, accent: string): Accent {
  const soft = mixed(GROUNDS[theme].panel, accent, SOFT[theme]);
  const onAccent = contrast(accent, WHITE) >= CONTRAST_MIN ? WHITE : INK;
  return { accent, soft, onAccent };
}

/** Returns the least contrast that a text in the accent has on the grounds of a theme. */
export function leastContrast(theme: keyof typeof GROUNDS, accent: string): number {
  const { ground, panel } = GROUNDS[theme];
  const { soft } = accentOn(theme, accent);
  return Math.min(...[ground, panel, soft].map((behind) => contrast(accent, behind)));
}

/** Returns the accent for both themes: on dark grounds it is lightened until it is legible. */
export function accentsOf(accent: string): { readonly light: Accent; readonly dark: Accent } {
  let lighter = accent;
  for (let share = 0; leastContrast('dark', lighter) < CONTRAST_MIN; share += LIGHTER_BY)
    lighter = mixed(accent, WHITE, share);
  return { light: accentOn('light', accent), dark: accentOn('dark', lighter) };
}
