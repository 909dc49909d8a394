import { visibleLines } from '../../services/domain/text/visible-text.ts';

/** A text that a stranger wrote. It is text whatever it contains, and characters that hide or reorder it are spelt out. */
export function Foreign({ text }: { readonly text: string }) {
  return <>{visibleLines(text)}</>;
}
