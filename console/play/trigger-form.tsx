import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { entityKindsOf, fieldsOf, isShown, SUB_TYPES } from '../../services/domain/catalog/catalog.ts';
import type { Field as EventField } from '../../services/domain/catalog/field.ts';
import { API_VERSION_DEFAULT } from '../../services/domain/endpoint.ts';
import { EVENT_TYPES, type EventType } from '../../services/domain/event.ts';
import { useReadOnly } from '../api/session.ts';
import type { TriggeredEvent } from '../api/shapes.ts';
import { Button, Field, Form } from '../parts/controls.tsx';
import { ErrorPanel } from '../parts/screen.tsx';
import { lineOf, type Texts, textOf, valuesOf } from './form-values.ts';
import { Command } from './on-your-machine.tsx';
import { trigger } from './trigger.ts';

/** The event that is chosen, its sample, and what was changed in it. */
function useEvent(isReader: boolean) {
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
export function TriggerForm() {
  const readOnly = useReadOnly();
  const isReader = readOnly !== undefined;
  const { type, subType, fields, sample, changed, setChanged, choose, another, sending } = useEvent(isReader);
  const { mutate, data, error, isPending } = sending;
  return (
    <Form className="panel" onSubmit={() => mutate()}>
      <h2>One event</h2>
      <div className="row at-end">
        <Field
          label="Type"
          value={type}
          options={EVENT_TYPES}
          onChange={(text) => choose(EVENT_TYPES.find((one) => one === text) ?? type)}
        />
        <Field
          label="SubType"
          value={subType}
          options={SUB_TYPES[type]}
          onChange={(to) => choose(type, to)}
        />
      </div>
      <ErrorPanel error={sample.error} />
      {sample.data === undefined ? null : (
        <div className="columns event-fields">
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
      <p className="row">
        <Button type="submit" kind="primary" busy={isPending && 'Sending…'} disabled={isReader}>
          Send the event
        </Button>
        <Button disabled={isReader} onClick={another}>
          Take another sample
        </Button>
        {isReader ? <span className="note">{readOnly}</span> : null}
        {data === undefined ? null : <Sent event={data} />}
      </p>
      <ErrorPanel error={error} />
      <Command line={lineOf(type, subType, changed)} />
    </Form>
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

interface ValueProps {
  readonly field: EventField;
  readonly subType: string;
  readonly sample: string;
  /** The text that was typed in place of the sample. */
  readonly text: string | undefined;
  readonly onChange: (text: string) => void;
}

function Value({ field, subType, sample, text, onChange }: ValueProps) {
  const { name, kind, description } = field;
  const values = field.valuesOn?.[subType] ?? field.values ?? (kind === 'boolean' ? ['true', 'false'] : []);
  const isStructure = kind === 'object' || kind === 'array';
  const options = [...new Set([sample, ...values])].map((one) => [one, one || '(left out)'] as const);
  return (
    <Field
      className={text === undefined || text === sample ? 'field' : 'field changed'}
      label={name}
      note={description}
      value={text ?? sample}
      onChange={onChange}
      {...(isStructure ? { rows: 3 } : values.length > 0 ? { options } : {})}
    />
  );
}
