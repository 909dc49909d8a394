import { formatDuration } from '../../../client/duration.ts';
import { visible } from '../../../services/domain/text/visible-text.ts';
import type { CheckAnswer, MerchantApi } from '../../client/merchant-api.ts';
import { CommandFailure, EXIT } from '../../exit.ts';
import type { Output } from '../../output.ts';
import type { EndpointOptions, Session } from '../../session.ts';

const COLOURS = { ok: 'green', warning: 'yellow', failed: 'red' } as const;

/** Checks how an endpoint is reached. Throws when a step failed. */
export async function check(
  api: MerchantApi,
  { endpoint }: EndpointOptions,
  { output }: Session,
): Promise<void> {
  const answer = await output.during(() => 'checking the endpoint', api.checkEndpoint(endpoint));
  output.result(answer, () => describeCheck(answer, output));
  if (answer.result !== 'failed') return;
  throw new CommandFailure(EXIT.expectation, 'webhooks do not arrive at this endpoint');
}

function describeCheck({ url, steps }: CheckAnswer, output: Output): string {
  const rows = steps.flatMap(({ step, result, says, remedy, duration_ms: ms }) => {
    const colour = COLOURS[result as keyof typeof COLOURS];
    const shown = result.replaceAll('_', ' ');
    const time = ms === null ? '' : `  (${formatDuration(ms)})`;
    const line = [step, `${colour ? output.paint(colour, shown) : visible(shown)}  ${visible(says)}${time}`];
    return remedy === null ? [line] : [line, ['', `  ${visible(remedy)}`]];
  });
  return output.table([['url', visible(url)], ...rows]);
}
