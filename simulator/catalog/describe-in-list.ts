import type { Output } from '../output.ts';

interface Listed {
  readonly type: string;
  readonly about: string;
  readonly sub_types: readonly { readonly subType: string }[];
}

/** Returns a type of event or notice as the catalogue lists it: its meaning, then its subTypes. */
export function describeInList({ type, about, sub_types }: Listed, output: Output): string {
  const names = sub_types.map(({ subType }) => subType).join(' ');
  return output.prose(`${output.paint('bold', type)}  ${about}\n    ${names}`);
}
