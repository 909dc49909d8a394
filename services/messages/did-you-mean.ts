import { distance } from 'fastest-levenshtein';

/** Comparing long names takes quadratic time and is useless. */
const NAME_LENGTH_MAX = 60;

/** In names that are as long as this, two letters may be wrong. */
const LONG_NAME = 7;
/** The least letters that tell a name by its beginning. */
const BEGINNING_MIN = 4;

/** Returns the known names most like a mistyped one, best first; none when all are entirely different. */
function nearestNames(name: string, known: readonly string[], most = 3): readonly string[] {
  if (name.length > NAME_LENGTH_MAX) return [];
  const wanted = name.toLowerCase();
  return known
    .map((candidate) => {
      const text = candidate.toLowerCase();
      // A path that ends in the name is the best match: data.amountFiat for amountFiat.
      return { candidate, edits: text.endsWith(`.${wanted}`) ? 0 : distance(wanted, text) };
    })
    .filter(({ candidate, edits }) => edits <= Math.max(2, candidate.length / 2))
    .sort((a, b) => a.edits - b.edits || a.candidate.localeCompare(b.candidate))
    .slice(0, most)
    .map(({ candidate }) => candidate);
}

/**
 * Returns the known name that a mistyped one can only be: with other signs between the same letters, a letter wrong, two
 * changed round, its beginning. A line that is put right with it can be typed as it is; undefined when that is a guess.
 */
export function meantName(name: string, known: readonly string[]): string | undefined {
  const wanted = lettersOf(name);
  const same = known.filter((candidate) => lettersOf(candidate) === wanted);
  if (same.length > 0) return only(same);
  const near = nearestNames(name, known, known.length);
  const slips = near.filter((candidate) => isSlip(wanted, lettersOf(candidate)));
  const least = Math.min(...slips.map((slip) => editsTo(name, slip)));
  const nearest = slips.filter((slip) => editsTo(name, slip) === least);
  if (nearest.length === 1) return nearest[0];
  // Of two that are as near, a letter was rather left out than taken for another one.
  if (nearest.length > 1) {
    const isShorter = nearest.some((slip) => lettersOf(slip).length < wanted.length);
    return isShorter ? undefined : only(nearest.filter((slip) => lettersOf(slip).length > wanted.length));
  }
  if (wanted.length < BEGINNING_MIN) return undefined;
  return only(known.filter((candidate) => lettersOf(candidate).startsWith(wanted)));
}

function only(names: readonly string[]): string | undefined {
  return names.length === 1 ? names[0] : undefined;
}

function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}

function editsTo(name: string, candidate: string): number {
  const [a, b] = [lettersOf(name), lettersOf(candidate)];
  return isSwapped(a, b) ? 1 : distance(a, b);
}

function isSlip(name: string, candidate: string): boolean {
  return isSwapped(name, candidate) || distance(name, candidate) <= (candidate.length >= LONG_NAME ? 2 : 1);
}

/** Whether two neighbouring letters have changed places. */
function isSwapped(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  const at = [...a].findIndex((letter, index) => letter !== b[index]);
  return at !== -1 && a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2);
}

/** Returns "; did you mean a, b?" with the nearest names; empty when there are none. */
export function didYouMean(name: string, known: readonly string[], most = 3): string {
  const near = nearestNames(name, known, most);
  return near.length === 0 ? '' : `; did you mean ${near.join(', ')}?`;
}
