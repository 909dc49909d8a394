import { useMemo, useState } from 'react';
import { Button, Copy } from './controls.tsx';
import { layOut } from './json-layout.ts';
import { foreign } from './text.tsx';

/** A body: laid out when it is JSON, and as it was sent on request. What a stranger wrote stays text. */
export function JsonText({ text, what = 'the body' }: { readonly text: string; readonly what?: string }) {
  const tokens = useMemo(() => layOut(text), [text]);
  const [isRaw, setRaw] = useState(false);
  if (text === '') return <p className="note">Empty.</p>;
  return (
    <div className="body">
      <p className="row tools">
        {tokens === undefined ? null : (
          <Button kind="copy" aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
            As sent
          </Button>
        )}
        <Copy text={text} what={what} />
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
      <section className="code" tabIndex={0} aria-label={what}>
        <pre>
          {tokens === undefined || isRaw
            ? foreign(text)
            : tokens.map(({ kind, text: part }, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: tokens of one text never move
                <span key={index} className={kind}>
                  {foreign(part)}
                </span>
              ))}
        </pre>
      </section>
    </div>
  );
}
