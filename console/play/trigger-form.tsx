import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useId, useState } from 'react';
import { entityKindsOf, fieldsOf, isShown, SUB_TYPES } from '../../services/domain/catalog/catalog.ts';
import type { Field } from '../../services/domain/catalog/field.ts';
import { API_VERSION_DEFAULT } from '../../services/domain/endpoint.ts';
import { EVENT_TYPES, type EventType } from '../../services/domain/event.ts';
import { isSignedOut } from '../api/refusal.ts';
import { ended } from '../api/session.ts';
import type { TriggeredEvent } from '../api/shapes.ts';
import { ErrorPanel } from '../parts/error-panel.tsx';
import { Command } from './command.tsx';
import { lineOf, type Texts, textOf, valuesOf } from './form-values.ts';
import { trigger } from './trigger.ts';

/** The event that is chosen, its sample, and what was changed in it. */
function useEvent(isReader: boolean) {
  const client = useQueryClient();
  const [{ type, subType }, setKind] = useState(kindOf('fiatToCrypto'));
  const [subject, setSubject] = useState(() => crypto.randomUUID());
  const [changed, setChanged] = useState<Texts>({});
  const named = { type, subType, subject, ...entityOf(type, subject) };
  const sample = useQuery({
    queryKey: ['sample', named],
    queryFn: () => trigger(named, true),
    enabled: !isReader,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const fields = fieldsOf(type).filter(
    (field) => field.constant === undefined && isShown(field, subType, API_VERSION_DEFAULT),
  );
  const sending = useMutation({
    mutationFn: () => trigger({ ...named, data: valuesOf(fields, changed) }),
    onError: (thrown) => (isSignedOut(thrown) ? ended(client, thrown.code) : undefined),
  });
  const choose = (next: EventType, nextSubType?: string) => {
    setKind(kindOf(next, nextSubType));
    setChanged({});
  };
  const another = () => setSubject(crypto.randomUUID());
  return { type, subType, fields, sample, changed, setChanged, choose, another, sending };
}

function kindOf(type: EventType, subType = SUB_TYPES[type][0] ?? '') {
  return { type, subType };
}

/** Publishes one event: a form made from the fields of its type, filled with a sample. */
export function TriggerForm({ isReader }: { readonly isReader: boolean }) {
  const { type, subType, fields, sample, changed, setChanged, choose, another, sending } = useEvent(isReader);
  const { mutate, data, error, isPending } = sending;
  const send = (event: FormEvent) => {
    event.preventDefault();
    mutate();
  };
  return (
    <form className="panel" onSubmit={send}>
      <h2>One event</h2>
      <div className="play-controls">
        <Choice
          label="Type"
          value={type}
          values={EVENT_TYPES}
          onChange={(text) => choose(EVENT_TYPES.find((one) => one === text) ?? type)}
        />
        <Choice
          label="SubType"
          value={subType}
          values={SUB_TYPES[type]}
          onChange={(text) => choose(type, text)}
        />
      </div>
      {sample.error ? <ErrorPanel error={sample.error} /> : null}
      {sample.data === undefined ? null : (
        <div className="event-fields">
          {fields.map((field) => (
            <Value
              key={field.name}
              field={field}
              subType={subType}
              sample={textOf(sample.data.data[field.name])}
              text={changed[field.name]}
              onChange={(text) => setChanged({ ...changed, [field.name]: text })}
            />
          ))}
        </div>
      )}
      <p className="play-controls">
        <button type="submit" className="primary" disabled={isReader || isPending}>
          {isPending ? 'Sending…' : 'Send the event'}
        </button>
        <button type="button" disabled={isReader} onClick={another}>
          Take another sample
        </button>
        {isReader ? <span className="note">Your link is read-only.</span> : null}
        {data === undefined ? null : <Sent event={data} />}
      </p>
      {error ? <ErrorPanel error={error} /> : null}
      <Command line={lineOf(type, subType, changed)} />
    </form>
  );
}

function entityOf(type: EventType, uuid: string) {
  return entityKindsOf(type).includes('USER') ? { user_uuid: uuid } : { corporate_uuid: uuid };
}

function Sent({ event: { event_uuid: id, type, subType } }: { readonly event: TriggeredEvent }) {
  return (
    <span role="status">
      Sent:{' '}
      <Link to="/events/$id" params={{ id }}>
        {type}/{subType}
      </Link>
    </span>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly values: readonly string[];
  readonly onChange: (text: string) => void;
}

function Choice({ label, value, values, onChange }: ChoiceProps) {
  return (
    <label className="field">
      <span>{label}</span>
      <select value={value} onChange={({ target }) => onChange(target.value)}>
        {values.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
    </label>
  );
}

interface ValueProps {
  readonly field: Field;
  readonly subType: string;
  readonly sample: string;
  /** The text that was typed in place of the sample. */
  readonly text: string | undefined;
  readonly onChange: (text: string) => void;
}

function Value({ field, subType, sample, text, onChange }: ValueProps) {
  const id = useId();
  const { name, kind, description } = field;
  const values = field.valuesOn?.[subType] ?? field.values ?? (kind === 'boolean' ? ['true', 'false'] : []);
  const value = text ?? sample;
  const props = { id, value, 'aria-describedby': `${id}-note` };
  const isStructure = kind === 'object' || kind === 'array';
  return (
    <div className={text === undefined || text === sample ? 'field' : 'field changed'}>
      <label htmlFor={id}>{name}</label>
      {values.length > 0 && !isStructure ? (
        <select {...props} onChange={({ target }) => onChange(target.value)}>
          {[...new Set([sample, ...values])].map((one) => (
            <option key={one} value={one}>
              {one === '' ? '(left out)' : one}
            </option>
          ))}
        </select>
      ) : isStructure ? (
        <textarea {...props} rows={3} onChange={({ target }) => onChange(target.value)} spellCheck={false} />
      ) : (
        <input
          {...props}
          onChange={({ target }) => onChange(target.value)}
          autoComplete="off"
          spellCheck={false}
        />
      )}
      <p className="note" id={`${id}-note`}>
        {description}
      </p>
    </div>
  );
}
