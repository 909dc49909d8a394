import { visible } from '../../services/domain/text/visible-text.ts';

const SHOWN = 8;

/** Returns the beginning of an id, as much as tells a few apart. Ids of banks are any text. */
export function shortId(id: string): string {
  return visible(id.slice(0, SHOWN));
}
