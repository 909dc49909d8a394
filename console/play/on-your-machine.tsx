import { useState } from 'react';
import { formatDuration } from '../../client/duration.ts';
import { BEHAVIOURS } from '../../client/receiver-behaviours.ts';
import { clock } from '../api/api.ts';
import { Copy, Field } from '../parts/controls.tsx';
import { Panel } from '../parts/screen.tsx';

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
  const [behaviour, setBehaviour] = useState('500');
  const behaviours = BEHAVIOURS.map((one) => [one, SAYS[one]] as const);
  return (
    <Panel title="On your machine">
      <Field label="A receiver that" value={behaviour} options={behaviours} onChange={setBehaviour} />
      <Command line={`sim receiver --register --behaviour ${behaviour}`} />
      <p>
        The next retry without the wait. The clock belongs to the whole sandbox
        {clock.movedMs > 0 ? `, and is ${formatDuration(clock.movedMs)} ahead` : ''}:
      </p>
      <Command line="sim clock advance next-retry" />
      <p>Your own handler, with each webhook that comes:</p>
      <Command line="sim listen --forward-to localhost:3000" />
    </Panel>
  );
}

/** A line for a terminal, with a button that copies it. */
export function Command({ line }: { readonly line: string }) {
  const whole = `npx --no hookrail ${line}`;
  return (
    <p className="row command">
      <code>{whole}</code> <Copy text={whole} what="the command" />
    </p>
  );
}
