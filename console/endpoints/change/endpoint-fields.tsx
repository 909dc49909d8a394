import type { ApiVersion } from '../../../services/domain/endpoint.ts';
import { Refusal } from '../../api/refusal.ts';
import { Field } from '../../parts/controls.tsx';
import { EndpointLink } from '../../parts/endpoint.tsx';
import { ErrorPanel } from '../../parts/screen.tsx';
import { type Filter, FilterField } from './filter-field.tsx';

/** The fields of an endpoint that a person fills in, by the names of the API. */
export interface Fields {
  readonly url: string;
  readonly description: string;
  readonly subscribed_events: Filter;
}

interface Props {
  readonly fields: Fields;
  readonly version: ApiVersion;
  /** It gets operational notices. */
  readonly isOperational?: boolean;
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
export function EndpointFields({ fields, version, isOperational = false, onChange, error }: Props) {
  const [url, description, filter] = ['/url', '/description', '/subscribed_events'].map((pointer) =>
    faultAt(error, pointer),
  );
  const isShown = [url, description, filter].some((fault) => fault !== undefined);
  const { existing, requestId } = error instanceof Refusal ? error : { existing: undefined, requestId: null };
  return (
    <>
      <Field
        label="URL"
        type="url"
        placeholder="https://hooks.example.com/payments"
        required
        value={fields.url}
        onChange={(text) => onChange({ url: text })}
        fault={url}
        remedy={existing && <EndpointLink uuid={existing}>Show that endpoint</EndpointLink>}
      />
      <Field
        label="Description"
        placeholder="For yourself, such as: checkout"
        maxLength={CHARACTERS_MAX}
        required
        value={fields.description}
        onChange={(text) => onChange({ description: text })}
        fault={description}
      />
      {isOperational ? (
        <p className="note">
          It gets operational notices, and no events. Which types of notices is changed by the API:{' '}
          <code>subscribed_events</code>.
        </p>
      ) : (
        <FilterField
          filter={fields.subscribed_events}
          version={version}
          onChange={(types) => onChange({ subscribed_events: types })}
          fault={filter}
        />
      )}
      {isShown ? null : <ErrorPanel error={error} />}
      {isShown && requestId !== null ? (
        <p className="note">
          Request <code>{requestId}</code>
        </p>
      ) : null}
    </>
  );
}
