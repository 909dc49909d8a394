import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import samples from '../generated/samples.json' with { type: 'json' };
import { JsonText } from '../parts/json-text.tsx';

const RECEIVERS = Object.entries(samples.receivers);

/** The documented receivers, which verify a webhook before they take it. */
export function Receivers() {
  const [chosen, setChosen] = useState(RECEIVERS[0]?.[0]);
  const code = RECEIVERS.find(([language]) => language === chosen)?.[1] ?? '';
  return (
    <section className="panel">
      <h2>Verify and receive</h2>
      <p>
        A whole receiver. When its check fails, <Link to="/verify">Verify</Link> says why.
      </p>
      <fieldset className="kinds">
        <legend className="note">Language</legend>
        {RECEIVERS.map(([language]) => (
          <button
            key={language}
            type="button"
            className="copy"
            aria-pressed={language === chosen}
            onClick={() => setChosen(language)}
          >
            {language}
          </button>
        ))}
      </fieldset>
      <JsonText text={code} what={`the receiver in ${chosen}`} />
    </section>
  );
}
