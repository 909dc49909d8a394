import { useId, useState } from 'react';
import { formatDuration } from '../../client/duration.ts';
import { BEHAVIOURS } from '../../client/receiver-behaviours.ts';
import { clock } from '../api/api.ts';
import { Command } from './command.tsx';

const SAYS: Readonly<Record<(typeof BEHAVIOURS)[number], string>> = {
  ok: 'answers 200',
  '500': 'answers 500: retries, and at last the endpoint is disabled',
  '410': 'answers 410: it is gone, and the endpoint is disabled',
  redirect: 'redirects, which is not followed',
  hang: 'never answers',
  reset: 'breaks the connection off',
  'slow-body': 'sends its body a byte at a time',
  'huge-body': 'sends a body without end',
  drip: 'sends its headers a byte at a time',
  garbage: 'answers what is not HTTP',
  'tls-expired': 'has a certificate that has expired',
};

/** Commands for things that a browser cannot do: run a receiver, and move the clock, which all merchants of the sandbox share. */
export function OnYourMachine() {
  const [behaviour, setBehaviour] = useState<(typeof BEHAVIOURS)[number]>('500');
  const id = useId();
  return (
    <section className="panel">
      <h2>On your machine</h2>
      <div className="field">
        <label htmlFor={id}>A receiver that</label>
        <select
          id={id}
          value={behaviour}
          onChange={({ target }) => setBehaviour(BEHAVIOURS.find((one) => one === target.value) ?? 'ok')}
        >
          {BEHAVIOURS.map((one) => (
            <option key={one} value={one}>
              {SAYS[one]}
            </option>
          ))}
        </select>
      </div>
      <Command line={`sim receiver --register --behaviour ${behaviour}`} />
      <p>
        The next retry without the wait. The clock belongs to the whole sandbox
        {clock.movedMs > 0 ? `, and is ${formatDuration(clock.movedMs)} ahead` : ''}:
      </p>
      <Command line="sim clock advance next-retry" />
      <p>Your own handler, with each webhook that comes:</p>
      <Command line="sim listen --forward-to localhost:3000" />
    </section>
  );
}
