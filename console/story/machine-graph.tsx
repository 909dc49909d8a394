import { useMemo } from 'react';
import type { Table } from '../../services/domain/catalog/machines.ts';
import { layOutMachine } from './machine-layout.ts';

const MARKER = {
  ...{ viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto-start-reverse' },
};

interface Props {
  readonly type: string;
  readonly table: Table;
  /** The states that were reached, in order; the last is the state now. */
  readonly reached: readonly string[];
}

/** A state machine as a picture: the way that was taken, and the point that is reached. */
export function MachineGraph({ type, table, reached }: Props) {
  const { width, height, boxes, arrows } = useMemo(() => layOutMachine(table), [table]);
  const now = reached.at(-1);
  const taken = new Set(reached.slice(1).map((state, index) => `${reached[index]} ${state}`));
  const isTaken = (from: string, to: string) => taken.has(`${from} ${to}`);
  // The arrows of the way that was taken are drawn last, over the others.
  const drawn = [...arrows].sort((a, b) => Number(isTaken(a.from, a.to)) - Number(isTaken(b.from, b.to)));
  const says = `${type}: ${reached.join(', then ')}. The state now is ${now ?? 'not known'}.`;
  const head = `head-${type}`;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard
    <section className="machine" tabIndex={0} aria-label={`States of ${type}`}>
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={says}>
        <defs>
          {['', 'taken'].map((kind) => (
            <marker key={kind} id={`${head}${kind}`} className={`head ${kind}`} {...MARKER}>
              <path d="M0 0 8 4 0 8z" />
            </marker>
          ))}
        </defs>
        {drawn.map(({ from, to, path }) => (
          <path
            key={`${from} ${to}`}
            d={path}
            className={isTaken(from, to) ? 'arrow taken' : 'arrow'}
            markerEnd={`url(#${head}${isTaken(from, to) ? 'taken' : ''})`}
          />
        ))}
        {boxes.map(({ state, x, y, width: boxWidth, height: boxHeight }) => (
          <g
            key={state}
            className={state === now ? 'state now' : reached.includes(state) ? 'state been' : 'state'}
          >
            <rect x={x} y={y} width={boxWidth} height={boxHeight} rx={6} />
            <text x={x + boxWidth / 2} y={y + boxHeight / 2} dominantBaseline="central" textAnchor="middle">
              {state}
            </text>
          </g>
        ))}
      </svg>
    </section>
  );
}
