import type { UseQueryResult } from '@tanstack/react-query';
import { type AnyRouter, Link } from '@tanstack/react-router';
import { Children, Fragment, type ReactNode, useEffect, useState } from 'react';
import { visible } from '../../services/domain/text/visible-text.ts';
import { Refusal } from '../api/refusal.ts';
import { Button, Copy } from './controls.tsx';
import { foreign } from './text.tsx';

/** Returns a setting of the service that its page carries in a meta element; empty when it has none. */
export function pageSetting(name: string): string {
  return document.querySelector<HTMLMetaElement>(`meta[name="hookrail:${name}"]`)?.content ?? '';
}

/** Names the screen in the browser's tab and history. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${visible(title)} · ${pageSetting('name')}`;
  }, [title]);
}

interface PanelProps {
  /** A text may be a stranger's. */
  readonly title: ReactNode;
  /** The kind of thing that the title names. */
  readonly kind?: string;
  readonly heading?: 'h1' | 'h2';
  readonly className?: string;
  readonly children: ReactNode;
}

/** A heading and what belongs below it. */
export function Panel({ title, kind, heading: Heading = 'h2', className = '', children }: PanelProps) {
  return (
    <section className={`panel ${className}`}>
      <Heading>
        {kind === undefined ? null : <span className="kind">{kind} </span>}
        {typeof title === 'string' ? foreign(title) : title}
      </Heading>
      {children}
    </section>
  );
}

/** The panel that a screen begins with, which gives the tab its name. */
export function Screen({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  useTitle(title);
  return (
    <Panel heading="h1" title={title}>
      {children}
    </Panel>
  );
}

/** Stands where there is nothing to show yet, and says how something comes. */
export function Empty({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** Facts in a line; what does not apply is left out. */
export function Facts({ children }: { readonly children: ReactNode }) {
  return (
    <p className="facts">
      {Children.toArray(children).map((fact, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the facts of one thing never move
        <Fragment key={index}>
          {index === 0 ? '' : ' · '}
          {fact}
        </Fragment>
      ))}
    </p>
  );
}

interface Pair {
  readonly name: string;
  /** How the name is shown, where it is not plain text. */
  readonly shown?: ReactNode;
  readonly says: ReactNode;
}

/** Names, and what each stands for. */
export function Pairs({
  all,
  className = 'pairs',
}: {
  readonly all: readonly Pair[];
  readonly className?: string;
}) {
  return (
    <dl className={className}>
      {all.map(({ name, shown = name, says }) => (
        <div key={name}>
          <dt>{shown}</dt>
          <dd>{says}</dd>
        </div>
      ))}
    </dl>
  );
}

const SHOWN_AFTER_MS = 300;

/** Says that something is read; nothing flashes when it is there at once. */
export function Loading() {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), SHOWN_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p className="loading" role="status">
      {isShown ? 'Loading…' : ''}
    </p>
  );
}

interface ErrorProps {
  readonly error: Error | null | undefined;
  readonly retry?: () => void;
}

/** Shows an error in the words of the API, with the id of the request for support; nothing where there is none. */
export function ErrorPanel({ error, retry }: ErrorProps) {
  if (!error) return null;
  const { title = 'This did not work', status, requestId = null, code } = error as Partial<Refusal> & Error;
  // An id that nothing has is an answer, not a fault.
  const isAnswer = error instanceof Refusal && status === 404;
  return (
    <section className={isAnswer ? 'panel answer' : 'panel error'} role="alert">
      <h2>{title}</h2>
      <p>{foreign(error.message)}</p>
      {requestId === null ? null : (
        <p className="note">
          Request <code>{requestId}</code> <Copy text={requestId} what="the request id" />
          {code === undefined ? null : <> · {code}</>}
        </p>
      )}
      {retry === undefined || isAnswer ? null : <Button onClick={retry}>Try again</Button>}
    </section>
  );
}

interface ShownProps<Data> {
  readonly query: UseQueryResult<Data, Error>;
  readonly children: (data: Data) => ReactNode;
}

/** Shows the data of a read, and that it is loading before; an error stands above the data that was read last. */
export function Shown<Data>({ query: { data, error, refetch }, children }: ShownProps<Data>) {
  return (
    <>
      <ErrorPanel error={error} retry={() => void refetch()} />
      {data === undefined ? error ? null : <Loading /> : children(data)}
    </>
  );
}

/** Stands for an address that no screen has. `home`: address and name of the first screen. */
export function NoPage({ home: [to, name] }: { readonly home: readonly [to: string, name: string] }) {
  return (
    <Panel heading="h1" title="There is no such page">
      <p>
        The address may be cut off. Go to <Way to={to}>{name}</Way>, or look the id up with the field above.
      </p>
    </Panel>
  );
}

interface WayProps {
  readonly to: string;
  readonly children: ReactNode;
  readonly className?: string;
  readonly search?: Readonly<Record<string, string>>;
  readonly title?: string;
}

/** A link to a screen of this console. The types of Link know the addresses of one router, which is the merchants'. */
export function Way({ to, ...rest }: WayProps) {
  return <Link<AnyRouter, string, string> to={to} {...rest} />;
}

interface TableProps<Row> {
  /** The name of the table for screen readers. */
  readonly label: string;
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** The columns by their heads, each with what it says of a row. The table writes the first letter large. */
  readonly columns: Readonly<Record<string, (row: Row) => ReactNode>>;
  /** The column that names the row; the first one unless it is said. */
  readonly names?: string;
  /** Columns of numbers. */
  readonly numbers?: readonly string[];
  /** Says that there is nothing. */
  readonly none?: ReactNode;
  readonly className?: string;
}

interface ReadProps<Data, Row> extends Omit<TableProps<Row>, 'rows'> {
  readonly query: UseQueryResult<Data, Error>;
  readonly rowsOf: (data: Data) => readonly Row[];
}

/** A table of what is read. */
export function ReadTable<Data, Row>({ query, rowsOf, ...table }: ReadProps<Data, Row>) {
  return <Shown query={query}>{(data) => <Table {...table} rows={rowsOf(data)} />}</Shown>;
}

/** A table that scrolls by itself where the window is narrow. */
export function Table<Row>({ label, rows, keyOf, columns, numbers = [], none, ...props }: TableProps<Row>) {
  const all = Object.entries(columns);
  const { names = all[0]?.[0], className } = props;
  if (rows.length === 0 && none !== undefined) return <p>{none}</p>;
  const classOf = (head: string) => (numbers.includes(head) ? 'number' : undefined);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard
    <section className="scroll" tabIndex={0} aria-label={label}>
      <table className={className}>
        <thead>
          <tr>
            {all.map(([head]) => (
              <th key={head} scope="col" className={classOf(head)}>
                {head.charAt(0).toUpperCase() + head.slice(1)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {all.map(([head, cell]) => {
                const Cell = head === names ? 'th' : 'td';
                return (
                  <Cell key={head} scope={head === names ? 'row' : undefined} className={classOf(head)}>
                    {cell(row)}
                  </Cell>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
