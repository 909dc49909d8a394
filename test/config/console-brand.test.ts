/** How the console may look: what is illegible or not of this host is refused, in one line that says what to do. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { accentsOf, CONTRAST_MIN, contrast, GROUNDS } from '../../services/config/colours.ts';
import { readConfig } from '../../services/config/config.ts';

describe('the look of the console', () => {
  test('is its own, unless the operator sets it', () => {
    expect(readConfig({}).api.consoleBrand).toEqual({
      name: 'hookrail',
      logoFile: '',
      iconFile: '',
      accent: '',
      theme: 'auto',
      helpUrl: '',
    });
  });

  test.each([
    ['NAME', '', 'must be a name of 1 to 40 characters'],
    ['NAME', 'x'.repeat(41), 'must be a name of 1 to 40 characters'],
    ['NAME', 'Acme\u202e', 'must be a name of 1 to 40 characters'],
    ['ACCENT', 'green', 'must be a colour with six digits, such as #0b6e4f'],
    ['ACCENT', '#0b6e4f;}body{display:none', 'must be a colour with six digits, such as #0b6e4f'],
    ['ACCENT', '#00e0a0', 'is too light: text in it has a contrast of'],
    ['THEME', 'pink', 'must be one of auto, light, dark'],
    ['HELP_URL', 'javascript:alert(1)', 'must be an https address'],
    ['HELP_URL', 'http://help.example.com', 'must be an https address'],
  ])('HOOKRAIL_CONSOLE_%s="%s" is refused', (variable, value, says) => {
    expect(() => readConfig({ [`HOOKRAIL_CONSOLE_${variable}`]: value })).toThrow(says);
  });

  test('has a contrast by the formula of WCAG', () => {
    expect(contrast('#000000', '#ffffff')).toBeCloseTo(21, 5);
    expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
  });

  test.each(['#3447d4', '#0b6e4f', '#b0003a', '#000000', '#5b21b6', '#7a4b00'])(
    'with the accent %s, text is legible in both themes',
    (accent) => {
      for (const [theme, colours] of Object.entries(accentsOf(accent))) {
        const grounds = GROUNDS[theme as keyof typeof GROUNDS];
        for (const ground of [grounds.ground, grounds.panel, colours.soft])
          expect(contrast(colours.accent, ground)).toBeGreaterThanOrEqual(CONTRAST_MIN);
        expect(contrast(colours.onAccent, colours.accent)).toBeGreaterThanOrEqual(CONTRAST_MIN);
      }
    },
  );

  test('is checked against the grounds that the style sheet has', () => {
    const styles = readFileSync('console/styles/base.css', 'utf8');
    const [light = '', dark = ''] = styles.split('@media (prefers-color-scheme: dark)');
    for (const [text, grounds] of [
      [light, GROUNDS.light],
      [dark, GROUNDS.dark],
    ] as const)
      for (const [name, colour] of Object.entries(grounds)) expect(text).toContain(`--${name}: ${colour};`);
  });
});
