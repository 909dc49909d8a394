import { type ReactNode, useEffect, useRef, useState } from 'react';

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
  return (
    <div className="confirm">
      <button
        ref={first}
        type="button"
        disabled={whyNot !== undefined || isPending}
        aria-expanded={isAsked}
        onClick={() => setAsked(!isAsked)}
      >
        {isPending ? 'Changing…' : `${does}…`}
      </button>
      {isAsked && whyNot === undefined ? (
        <fieldset
          ref={question}
          tabIndex={-1}
          onKeyDown={({ key }) => {
            if (key === 'Escape') close();
          }}
        >
          <legend>What changes</legend>
          {children}
          <p className="buttons">
            <button
              type="button"
              className={isDanger ? 'danger' : 'primary'}
              disabled={isPending}
              onClick={() => {
                close();
                onConfirm();
              }}
            >
              {does}
            </button>
            <button type="button" onClick={close}>
              Leave it as it is
            </button>
          </p>
        </fieldset>
      ) : null}
    </div>
  );
}
