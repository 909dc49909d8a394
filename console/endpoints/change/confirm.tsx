import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Button } from '../../parts/controls.tsx';

interface Props {
  /** The word on the button. */
  readonly does: string;
  /** The effects of pressing it; losses come first. */
  readonly children: ReactNode;
  readonly onConfirm: () => void;
  readonly isPending: boolean;
  /** Why it cannot be done; undefined: it can. */
  readonly whyNot: string | undefined;
  readonly isDanger?: boolean;
}

/** A change that is asked for twice: the first press says what it changes. */
export function Confirm({ does, children, onConfirm, isPending, whyNot, isDanger = false }: Props) {
  const [isAsked, setAsked] = useState(false);
  const question = useRef<HTMLFieldSetElement>(null);
  const first = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isAsked) question.current?.focus();
  }, [isAsked]);
  const close = () => {
    setAsked(false);
    first.current?.focus();
  };
  const confirm = () => {
    close();
    onConfirm();
  };
  return (
    <div className="confirm">
      <Button
        ref={first}
        busy={isPending && 'Changing…'}
        disabled={whyNot !== undefined}
        aria-expanded={isAsked}
        onClick={() => setAsked(!isAsked)}
      >
        {does}…
      </Button>
      {isAsked && whyNot === undefined ? (
        <fieldset
          className="stack"
          ref={question}
          tabIndex={-1}
          onKeyDown={({ key }) => (key === 'Escape' ? close() : undefined)}
        >
          <legend>What changes</legend>
          {children}
          <p className="row">
            <Button kind={isDanger ? 'danger' : 'primary'} disabled={isPending} onClick={confirm}>
              {does}
            </Button>
            <Button onClick={close}>Leave it as it is</Button>
          </p>
        </fieldset>
      ) : null}
    </div>
  );
}
