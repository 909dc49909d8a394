import { Fragment } from 'react';

/** A text of the catalogue, in which code stands between backticks. */
export function Marked({ text }: { readonly text: string }) {
  return text.split('`').map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text never move
    <Fragment key={index}>{index % 2 === 1 ? <code>{part}</code> : part}</Fragment>
  ));
}
