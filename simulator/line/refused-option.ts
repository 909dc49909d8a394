import { visible } from '../../services/domain/text/visible-text.ts';
import type { ApiRefusal } from '../client/api-refusal.ts';
import { CommandFailure } from '../exit.ts';

/** The options whose values the API knows by another name. */
const OPTION_OF: Readonly<Record<string, string>> = {
  subscribed_events: 'events',
  user_uuid: 'user',
  corporate_uuid: 'corporate',
  subType: 'event',
  type: 'event',
};
/** Longer values are cut off: the line that was typed is above. */
const SHOWN_MAX = 60;

/** Names the option whose value the API refused, in place of the problem document; others are returned as they are. */
export function refusedOption(refusal: ApiRefusal, args: readonly string[], help: string): CommandFailure {
  const [error, second] = refusal.problem.errors ?? [];
  if (error?.pointer === undefined || error.detail === undefined || second !== undefined) return refusal;
  const field = error.pointer.split('/').at(1) === 'params' ? '' : (error.pointer.split('/')[1] ?? '');
  const option = `--${OPTION_OF[field] ?? field.replaceAll('_', '-')}`;
  const at = args.findIndex((arg) => arg === option || arg.startsWith(`${option}=`));
  const given = args[at]?.startsWith(`${option}=`) ? args[at].slice(option.length + 1) : args[at + 1];
  if (field === '' || at === -1 || given === undefined) return refusal;
  const shown = given.length > SHOWN_MAX ? `${given.slice(0, SHOWN_MAX)}…` : given;
  const says = `${option} "${visible(shown)}" is refused: ${visible(error.detail)}`;
  return new CommandFailure(refusal.exitCode, says, refusal.next.length > 0 ? refusal.next : [help]);
}
