import type { ReactNode } from 'react';
import { Id } from '../parts/controls.tsx';
import { Panel, Way } from '../parts/screen.tsx';
import { Time } from '../parts/text.tsx';

interface Props<Endpoint> {
  readonly id: string;
  readonly name: string;
  readonly occurredAt: string;
  readonly subject: string;
  /** More facts, behind the time. */
  readonly facts: ReactNode;
  readonly endpoints: readonly Endpoint[];
  /** Returns what became of the event at an endpoint. */
  readonly line: (endpoint: Endpoint) => ReactNode;
  readonly children?: ReactNode;
}

/** One event: which endpoints got it. */
export function EventScreen<Endpoint>({ id, name, occurredAt, endpoints, ...props }: Props<Endpoint>) {
  return (
    <>
      <Panel heading="h1" title={name}>
        <p className="facts">
          Event <Id id={id} what="the event's id" /> · occurred <Time at={occurredAt} />
          {props.facts}
        </p>
        <p>
          <Way to={`/subjects/${encodeURIComponent(props.subject)}`}>The whole story of what it is about</Way>
        </p>
      </Panel>
      <Panel title="Endpoints">
        {endpoints.length === 0 ? <p>There was no endpoint when the event was accepted.</p> : null}
        <ul className="lines">{endpoints.map(props.line)}</ul>
      </Panel>
      {props.children}
    </>
  );
}
