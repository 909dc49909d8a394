import { Link } from '@tanstack/react-router';
import { type ReactNode, useId } from 'react';
import type { ApiVersion } from '../../../services/domain/endpoint.ts';
import { Refusal } from '../../api/refusal.ts';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { Foreign } from '../../parts/foreign.tsx';
import { type Filter, FilterField } from './filter-field.tsx';

export interface Fields {
  readonly url: string;
  readonly description: string;
  readonly filter: Filter;
}

interface Props {
  readonly fields: Fields;
  readonly version: ApiVersion;
  readonly onChange: (change: Partial<Fields>) => void;
  readonly error: Error | null;
}

const CHARACTERS_MAX = 255;

/** Returns what the API says is wrong with a field. */
function faultAt(error: Error | null, pointer: string): string | undefined {
  if (!(error instanceof Refusal)) return undefined;
  if (pointer === '/url' && error.existing !== undefined) return error.title;
  const detail = error.faults.find((fault) => fault.pointer.startsWith(pointer))?.detail;
  return detail === undefined ? undefined : `${detail.charAt(0).toUpperCase()}${detail.slice(1)}.`;
}

/** The fields of an endpoint; a refusal is shown at the field that it is about. */
export function EndpointFields({ fields, version, onChange, error }: Props) {
  const [url, description, filter] = ['/url', '/description', '/subscribed_events'].map((pointer) =>
    faultAt(error, pointer),
  );
  const isShown = [url, description, filter].some((fault) => fault !== undefined);
  const existing = error instanceof Refusal ? error.existing : undefined;
  return (
    <>
      <TextField
        label="URL"
        type="url"
        placeholder="https://hooks.example.com/payments"
        value={fields.url}
        onChange={(text) => onChange({ url: text })}
        fault={url}
      >
        {existing === undefined ? null : (
          <Link to="/endpoints/$endpoint" params={{ endpoint: existing }}>
            Show that endpoint
          </Link>
        )}
      </TextField>
      <TextField
        label="Description"
        type="text"
        placeholder="For yourself, such as: checkout"
        maxLength={CHARACTERS_MAX}
        value={fields.description}
        onChange={(text) => onChange({ description: text })}
        fault={description}
      />
      <FilterField
        filter={fields.filter}
        version={version}
        onChange={(types) => onChange({ filter: types })}
        fault={filter}
      />
      {error === null || isShown ? null : <ErrorPanel error={error} />}
      {isShown && error instanceof Refusal && error.requestId !== null ? (
        <p className="note">
          Request <code>{error.requestId}</code>
        </p>
      ) : null}
    </>
  );
}

interface TextProps {
  readonly label: string;
  readonly type: 'url' | 'text';
  readonly placeholder: string;
  readonly value: string;
  readonly maxLength?: number;
  readonly onChange: (text: string) => void;
  readonly fault: string | undefined;
  readonly children?: ReactNode;
}

function TextField({ label, value, onChange, fault, children, ...more }: TextProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        required
        value={value}
        autoComplete="off"
        spellCheck={false}
        aria-invalid={fault !== undefined}
        aria-describedby={`${id}-fault`}
        onChange={({ target }) => onChange(target.value)}
        {...more}
      />
      <p id={`${id}-fault`} className="fault" role="alert">
        {fault === undefined ? null : <Foreign text={fault} />} {children}
      </p>
    </div>
  );
}
