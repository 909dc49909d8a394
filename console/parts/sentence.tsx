import { Fragment } from 'react';
import { Foreign } from './foreign.tsx';
import { Time } from './time.tsx';

const TIMES = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/;

/** A sentence of the service, with its times in the zone of the reader. */
export function Sentence({ text }: { readonly text: string }) {
  return text.split(TIMES).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: parts of one sentence never move
    <Fragment key={index}>{index % 2 === 1 ? <Time at={part} /> : <Foreign text={part} />}</Fragment>
  ));
}
