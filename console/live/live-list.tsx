import { Link } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { Button } from '../parts/controls.tsx';
import { shortId } from '../parts/words.ts';
import { itemsOf, type LiveGroup } from './live-items.ts';
import { LiveLine } from './live-line.tsx';
import type { LiveRow } from './live-row.ts';

const LINE_PX = 34;
/** Two lines, where the screen is narrow. */
const TALL_PX = 62;
const OVERSCAN = 12;

const narrow = matchMedia('(max-width: 700px)');
const watchWidth = (watch: () => void) => {
  narrow.addEventListener('change', watch);
  return () => narrow.removeEventListener('change', watch);
};

interface Props {
  /** Newest first. */
  readonly rows: readonly LiveRow[];
  readonly grouped: boolean;
}

/** The rows. While the reader is further down, nothing moves: what is new is counted in a button. */
export function LiveList({ rows, grouped }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const [seenUpTo, setSeenUpTo] = useState<number>();
  const shown = useMemo(
    () => (seenUpTo === undefined ? rows : rows.filter(({ order }) => order <= seenUpTo)),
    [rows, seenUpTo],
  );
  const items = useMemo(() => itemsOf(shown, grouped), [shown, grouped]);
  const isNarrow = useSyncExternalStore(watchWidth, () => narrow.matches);
  const linePx = isNarrow ? TALL_PX : LINE_PX;
  const lines = useVirtualizer({
    count: items.length,
    getScrollElement: () => place.current,
    estimateSize: () => linePx,
    getItemKey: (index) => items[index]?.key ?? index,
    overscan: OVERSCAN,
  });
  const onScroll = () => {
    const isTop = (place.current?.scrollTop ?? 0) < linePx / 2;
    if (isTop) setSeenUpTo(undefined);
    else setSeenUpTo((known) => known ?? rows[0]?.order);
  };
  const unseen = rows.length - shown.length;
  return (
    <div className="live-list">
      {unseen > 0 ? (
        <Button className="primary unseen" onClick={() => place.current?.scrollTo({ top: 0 })}>
          ↑ {unseen} new
        </Button>
      ) : null}
      <div
        ref={place}
        className="rows"
        onScroll={onScroll}
        tabIndex={0}
        role="table"
        aria-label="Deliveries"
        aria-rowcount={items.length}
      >
        <div role="rowgroup" className="row-heads">
          <div role="row" className="line">
            {['Time', 'Event', 'Subject', 'Endpoint', 'Result'].map((name) => (
              <span key={name} role="columnheader">
                {name}
              </span>
            ))}
          </div>
        </div>
        <div role="rowgroup" className="all-rows" style={{ height: lines.getTotalSize() }}>
          {lines.getVirtualItems().map(({ index, key, start, size }) => {
            const item = items[index];
            if (item === undefined) return null;
            const style = { transform: `translateY(${start}px)`, height: size };
            if (item.kind === 'row') return <LiveLine key={key} row={item.row} {...{ style, index }} />;
            return <GroupLine key={key} group={item.group} {...{ style, index }} />;
          })}
        </div>
      </div>
    </div>
  );
}

interface GroupProps {
  readonly group: LiveGroup;
  readonly style: { readonly transform: string; readonly height: number };
  readonly index: number;
}

function GroupLine({ group, style, index }: GroupProps) {
  const { subject, type, steps } = group;
  return (
    <div role="row" className="group" style={style} aria-rowindex={index + 1}>
      <span role="cell" aria-colspan={5}>
        <Link to="/subjects/$id" params={{ id: subject }}>
          {shortId(subject)}
        </Link>{' '}
        <strong>{type}</strong> {steps.join(' → ')}
      </span>
    </div>
  );
}
