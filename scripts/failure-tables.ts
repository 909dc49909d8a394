import { CODE_SIGNS } from '../services/domain/failures/failure-codes.ts';
import { SIGNS } from '../services/domain/failures/failure-signs.ts';

/** Returns the table of docs/errors.md of every `failure_code`. */
export function failureCodesTable(): string {
  const rows = Object.entries(CODE_SIGNS).map(([code, { says, remedy }]) => [`\`${code}\``, says, remedy]);
  return table(['failure_code', 'meaning', 'what to do'], rows);
}

/** Returns the table of docs/errors.md of every code in a `failure_detail`: the codes of one cause together. */
export function failureDetailsTable(): string {
  const causes = new Map<
    string,
    { readonly codes: string[]; readonly says: string; readonly remedy: string }
  >();
  for (const [code, { says, remedy }] of Object.entries(SIGNS)) {
    const cause = causes.get(says + remedy) ?? { codes: [], says, remedy };
    causes.set(says + remedy, cause);
    cause.codes.push(`\`${code.replaceAll('`', '')}\``);
  }
  const rows = [...causes.values()].map(({ codes, says, remedy }) => [codes.join(', '), says, remedy]);
  return table(['in the detail', 'cause', 'what helps'], rows);
}

/** Returns a table of Markdown. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')).replaceAll(' ', ''), ...rows.map(line)].join('\n');
}
