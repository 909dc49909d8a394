import type { Actor } from '../../store/change.ts';
import { UsageError } from './operator-error.ts';

/** The header in which the operator's tool sends the name of the person, percent-encoded. */
export const PERSON_HEADER = 'hookrail-operator';

const CHARACTERS_MAX = 100;

/** Returns the operator of this name. Throws UsageError when it is not fit to be shown in a line. */
export function operatorNamed(person: string): Actor {
  const name = person.trim().normalize('NFC');
  if (name !== '' && name.length <= CHARACTERS_MAX && /^[^\p{C}\p{Zl}\p{Zp}]+$/u.test(name))
    return { kind: 'operator', person: name };
  throw new UsageError(
    `the operator's name must be a text of 1 to ${CHARACTERS_MAX} visible characters: see --as and HOOKRAIL_OPERATOR`,
  );
}

/** Returns the operator whom a header names: one without a name when it is not there. */
export function actorIn(header: string | undefined): Actor {
  if (header === undefined) return { kind: 'operator' };
  let decoded: string;
  try {
    decoded = decodeURIComponent(header);
  } catch {
    throw new UsageError(`the header ${PERSON_HEADER} is not percent-encoded UTF-8`);
  }
  return operatorNamed(decoded);
}
