import { type ComponentProps, type FormEvent, type ReactNode, useEffect, useId, useState } from 'react';
import { foreign } from './text.tsx';

interface ButtonProps extends ComponentProps<'button'> {
  readonly kind?: 'primary' | 'danger' | 'plain' | 'copy';
  /** The word for what the button does now; it cannot be pressed again meanwhile. */
  readonly busy?: string | false;
}

export function Button({ kind, busy = false, disabled = false, children, ...props }: ButtonProps) {
  return (
    <button type="button" className={kind} disabled={disabled || busy !== false} {...props}>
      {busy || children}
    </button>
  );
}

const SAID_MS = 1500;

interface CopyProps {
  readonly text: string;
  /** Completes "Copy …" for those who hear the page. */
  readonly what: string;
  readonly label?: string;
}

export function Copy({ text, what, label = 'Copy' }: CopyProps) {
  const [said, setSaid] = useState<string>();
  useEffect(() => {
    if (said === undefined) return;
    const timer = setTimeout(() => setSaid(undefined), SAID_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setSaid('Copied'),
      () => setSaid('Not allowed'),
    );
  return (
    <Button kind="copy" aria-label={`${label} ${what}`} onClick={() => void copy()}>
      <span aria-live="polite">{said ?? label}</span>
    </Button>
  );
}

/** An id, whole, with a button that copies it. */
export function Id({ id, what }: { readonly id: string; readonly what: string }) {
  return (
    <span className="id">
      <code>{foreign(id)}</code> <Copy text={id} what={what} />
    </span>
  );
}

interface CheckProps {
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
  readonly disabled?: boolean;
  readonly children: ReactNode;
}

/** A box to tick, with what it means. */
export function Check({ isOn, onChange, disabled = false, children }: CheckProps) {
  return (
    <label className="check">
      <input
        type="checkbox"
        checked={isOn}
        disabled={disabled}
        onChange={({ target }) => onChange(target.checked)}
      />
      <span>{children}</span>
    </label>
  );
}

interface FormProps extends Omit<ComponentProps<'form'>, 'onSubmit'> {
  readonly onSubmit: () => void;
}

/** A form whose button, or Enter, does something here: the page stays. */
export function Form({ onSubmit, ...props }: FormProps) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit();
  };
  return <form {...props} onSubmit={submit} />;
}

/** A choice by its value and what it is called; a text is both. */
type Option = string | readonly [value: string, says: string];

interface SelectProps extends Omit<ComponentProps<'select'>, 'onChange'> {
  readonly options: readonly Option[];
  readonly onChange: (value: string) => void;
}

export function Select({ options, onChange, ...props }: SelectProps) {
  return (
    <select {...props} onChange={({ target }) => onChange(target.value)}>
      {options.map((option) => {
        const [value, says] = typeof option === 'string' ? [option, option] : option;
        return (
          <option key={value} value={value}>
            {says}
          </option>
        );
      })}
    </select>
  );
}

interface FieldProps extends Omit<ComponentProps<'input'>, 'onChange' | 'value'> {
  readonly label: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
  /** The number of lines; without it the text has one. */
  readonly rows?: number;
  /** The texts to choose from; without them any is typed. */
  readonly options?: readonly Option[];
  readonly note?: string;
  /** The fault of the text, said by the service; `remedy` stands behind it. */
  readonly fault?: string | undefined;
  readonly remedy?: ReactNode;
}

/** A text of a form, with its label above, and below what it is or what is wrong with it. */
export function Field(given: FieldProps) {
  const { label, onChange, rows, options, note, fault, remedy, className = 'field', ...input } = given;
  const id = useId();
  const [about, isChecked] = [`${id}-about`, 'fault' in given];
  const { value, disabled } = input;
  const typed = { id, value, 'aria-describedby': about, autoComplete: 'off', spellCheck: false };
  const onType = ({ target }: { readonly target: { readonly value: string } }) => onChange(target.value);
  return (
    <div className={className}>
      <label htmlFor={id}>{label}</label>
      {options ? (
        <Select {...{ id, value, disabled, options, onChange }} aria-describedby={about} />
      ) : rows ? (
        <textarea
          {...typed}
          rows={rows}
          placeholder={input.placeholder}
          autoCapitalize="off"
          onChange={onType}
        />
      ) : (
        <input {...typed} {...input} aria-invalid={fault !== undefined} onChange={onType} />
      )}
      <p id={about} className={fault ? 'fault' : 'note'} role={isChecked ? 'alert' : undefined}>
        {fault ? foreign(fault) : note}
        {remedy ? <> {remedy}</> : null}
      </p>
    </div>
  );
}
