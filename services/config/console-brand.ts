import { CONTRAST_MIN, leastContrast } from './colours.ts';
import { as, Malformed, type Values, variable } from './variables.ts';

const NAME_MAX = 40;
const THEMES = ['auto', 'light', 'dark'] as const;

/** How the console looks like the platform's own pages. */
export interface ConsoleBrand {
  readonly name: string;
  /** Paths of images; empty: none. */
  readonly logoFile: string;
  readonly iconFile: string;
  /** A colour as `#rrggbb`; empty: the console's own. */
  readonly accent: string;
  readonly theme: (typeof THEMES)[number];
  /** Empty: no link. */
  readonly helpUrl: string;
}

/** How it looks by itself. */
export const OWN_BRAND: ConsoleBrand = {
  name: 'hookrail',
  logoFile: '',
  iconFile: '',
  accent: '',
  theme: 'auto',
  helpUrl: '',
};

export const BRAND_VARIABLES = {
  HOOKRAIL_CONSOLE_NAME: variable(
    name,
    OWN_BRAND.name,
    'Name of the console in its head and in the titles of its pages.',
  ),
  HOOKRAIL_CONSOLE_LOGO_FILE: variable(
    as.text,
    '',
    'Image in place of the name, SVG, PNG or WebP, at most 256 KiB, shown 24 pixels high. It must be legible on light and dark ground, ' +
      'unless `HOOKRAIL_CONSOLE_THEME` chooses one.',
  ),
  HOOKRAIL_CONSOLE_ICON_FILE: variable(
    as.text,
    '',
    'Icon of the console in the browser’s tab: SVG, PNG or WebP.',
  ),
  HOOKRAIL_CONSOLE_ACCENT: variable(
    accent,
    '',
    'Colour of links and buttons, such as `#0b6e4f`. Text in it must be legible on white; on dark ground it is lightened. Empty: blue.',
  ),
  HOOKRAIL_CONSOLE_THEME: variable(
    as.oneOf(THEMES),
    OWN_BRAND.theme,
    '`light`, `dark`, or `auto`, which is what the reader’s system is set to.',
  ),
  HOOKRAIL_CONSOLE_HELP_URL: variable(
    helpUrl,
    '',
    'The platform’s page of help, to which the console links: `https://help.example.com/webhooks`. Empty: no link.',
  ),
} as const;

export type BrandValues = Values<typeof BRAND_VARIABLES>;

export function brandConfig(values: BrandValues): ConsoleBrand {
  return {
    name: values.HOOKRAIL_CONSOLE_NAME,
    logoFile: values.HOOKRAIL_CONSOLE_LOGO_FILE,
    iconFile: values.HOOKRAIL_CONSOLE_ICON_FILE,
    accent: values.HOOKRAIL_CONSOLE_ACCENT,
    theme: values.HOOKRAIL_CONSOLE_THEME,
    helpUrl: values.HOOKRAIL_CONSOLE_HELP_URL,
  };
}

function name(text: string): string {
  const isShown = /^\P{C}+$/u.test(text) && text.trim() !== '' && text.length <= NAME_MAX;
  if (isShown) return text;
  throw new Malformed(`must be a name of 1 to ${NAME_MAX} characters`);
}

function accent(text: string): string {
  if (text === '') return text;
  if (!/^#[\da-f]{6}$/i.test(text)) throw new Malformed('must be a colour with six digits, such as #0b6e4f');
  const least = leastContrast('light', text);
  if (least >= CONTRAST_MIN) return text.toLowerCase();
  throw new Malformed(
    `is too light: text in it has a contrast of ${least.toFixed(2)} on light ground, and needs ${CONTRAST_MIN}. Take a darker colour.`,
  );
}

function helpUrl(text: string): string {
  if (text === '' || (/^https:\/\/[^/]/.test(text) && URL.canParse(text))) return text;
  throw new Malformed('must be an https address: https://help.example.com/webhooks');
}
