import { resolve } from 'node:path';
import { dataFault, moveDatabasesAway } from '../../../services/data-files.ts';
import { messageOf } from '../../../services/messages/error-message.ts';
import { CommandFailure, EXIT } from '../../exit.ts';
import type { Session } from '../../session.ts';

/**
 * Offers to begin anew where another build has written the data: the databases are kept beside, keys and certificates
 * stay. On a terminal a person is asked; elsewhere `--anew` says so. Throws a failure, and changes nothing, without a yes.
 */
export async function beginAnew(
  session: Session,
  { anew = false }: { readonly anew?: boolean },
): Promise<void> {
  const dataDir = resolve(session.settings.dataDir);
  const fault = dataFault(dataDir);
  if (fault === undefined) return;
  if (!anew && !(await isWanted(session, fault)))
    throw new CommandFailure(EXIT.expectation, `the sandbox did not start: ${fault}`, [
      'keep the old data beside and begin anew with the same keys: hookrail start --anew',
    ]);
  try {
    session.output.warn(`began anew; the old data is in ${moveDatabasesAway(dataDir)}`);
  } catch (error) {
    throw new CommandFailure(EXIT.expectation, `the sandbox did not start: ${messageOf(error)}`);
  }
}

/** Asks the person at the terminal; false where there is none. */
async function isWanted({ surroundings, signal, output }: Session, fault: string): Promise<boolean> {
  const keyboard = surroundings.keyboard?.();
  if (!keyboard) return false;
  output.warn(`${fault}\nKeep the old data beside and begin anew with the same keys? [y/N]`);
  return new Promise((resolve) => {
    const answer = (isYes: boolean) => {
      end();
      signal.removeEventListener('abort', no);
      resolve(isYes);
    };
    const no = () => answer(false);
    const end = keyboard.listen((key) => answer(key.toLowerCase() === 'y'));
    signal.addEventListener('abort', no, { once: true });
  });
}
