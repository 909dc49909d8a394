import type { Environment } from '../../api/auth.ts';
import { PERSON_CHARACTERS_MAX, personNamed } from '../../domain/access/person-name.ts';
import type { Actor } from '../../store/change.ts';
import type { Unchecked, Values } from './arguments.ts';
import type { Command } from './command.ts';
import { UsageError } from './operator-error.ts';

/** The header in which the operator's tool sends the name of the person, percent-encoded. */
export const PERSON_HEADER = 'hookrail-operator';

/** The header that says: nobody has given the name, it is that of the system's user. */
export const ASSUMED_HEADER = 'hookrail-operator-assumed';

/** The operator, and whether the name was given: by `--as` or HOOKRAIL_OPERATOR, not by the system. */
export interface Person {
  readonly actor: Actor;
  readonly isNamed: boolean;
}

/** Returns the operator of this name. Throws UsageError when it is not fit to be shown in a line. */
export function operatorNamed(person: string): Actor {
  const name = personNamed(person);
  if (name !== undefined) return { kind: 'operator', person: name };
  throw new UsageError(
    `the operator's name must be a text of 1 to ${PERSON_CHARACTERS_MAX} visible characters: see --as and HOOKRAIL_OPERATOR`,
  );
}

/**
 * Throws UsageError where a command changes something or shows personal data in production, and nobody has given a name
 * for the audit. `values`: the arguments, as far as they are checked.
 */
export function requireNamed(
  [name, { isRead, showsPersonal }]: readonly [string, Pick<Command, 'isRead' | 'showsPersonal'>],
  values: Unchecked,
  { environment, isNamed }: { readonly environment: Environment; readonly isNamed: boolean },
): void {
  const isLook = isRead && !showsPersonal?.(values as Values);
  if (environment !== 'production' || isNamed || isLook) return;
  const what = isRead ? 'shows personal data' : 'changes something, or shows personal data';
  throw new UsageError(
    `${name} ${what}: in production the audit needs your name. Give --as <your name>, or set HOOKRAIL_OPERATOR`,
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
