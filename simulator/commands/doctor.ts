import type { CommandModule } from 'yargs';
import { checkEndpoint, testEndpoint, trustedBy } from '../doctor/endpoint-checks.ts';
import type { Finding } from '../doctor/finding.ts';
import { checkKafka, checkPorts } from '../doctor/network-checks.ts';
import {
  checkApi,
  checkDataDir,
  checkOperations,
  checkProducerKey,
  isKafka,
} from '../doctor/service-checks.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import { type CommandOptions, inSession, type Session, type Surroundings } from '../session.ts';

interface DoctorOptions extends CommandOptions {
  readonly test: boolean;
}

/** Checks everything that a webhook needs on its way, and says how to fix what is wrong. */
export function doctorCommand(
  surroundings: Surroundings,
): Pick<CommandModule<object, DoctorOptions>, 'builder' | 'handler'> {
  return {
    builder: {
      test: { type: 'boolean', default: false, describe: 'Send a test webhook to each active endpoint' },
    },
    handler: (options) => inSession(options, surroundings, (session) => doctor(session, options)),
  };
}

async function doctor(session: Session, { test }: DoctorOptions): Promise<void> {
  const { output } = session;
  const counts = { ok: 0, warn: 0, fail: 0 };
  const print = (findings: readonly Finding[]) => {
    for (const finding of findings) {
      counts[finding.state] += 1;
      output.item(finding, () => describeFinding(finding, session));
    }
  };
  print([checkDataDir(session)]);
  const operations = await checkOperations(session);
  const { findings, api, endpoints } = await checkApi(session);
  print([...operations, ...findings]);
  if (api === null) print(await checkPorts(session));
  else print([await checkProducerKey(session)]);
  if (isKafka(operations)) print(await checkKafka(session));
  const trusted = trustedBy(session);
  for (const endpoint of endpoints) {
    const checking = test && api ? testEndpoint(api, endpoint, trusted) : checkEndpoint(endpoint, trusted);
    print([await output.during(() => `checking ${endpoint.url}`, checking)]);
  }
  if (api !== null && endpoints.length === 0)
    output.remark('no endpoints yet: hookrail sim endpoints create --url https://…');
  if (counts.fail > 0)
    throw new CommandFailure(
      EXIT.expectation,
      `${counts.fail} of ${counts.ok + counts.warn + counts.fail} checks failed`,
    );
}

function describeFinding({ check, state, says, next }: Finding, { output }: Session): string {
  const mark = {
    ok: output.paint('green', 'ok  '),
    warn: output.paint('yellow', 'warn'),
    fail: output.paint('red', 'fail'),
  };
  const lines = [
    output.prose(`${mark[state]} ${check}: ${says}`),
    ...next.map((step) => `       → ${output.asTyped(step)}`),
  ];
  return lines.join('\n');
}
