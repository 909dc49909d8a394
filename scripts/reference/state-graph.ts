import { START, type Table } from '../../services/domain/catalog/machines.ts';
import { type Html, html } from './html.ts';

/** Stands for "whatever the state was" where nearly every state may be followed by the same one. */
const ANY = 'any other state';

interface Edge {
  readonly from: string;
  readonly to: string;
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

const HEIGHT = 34;
const ROW = 84;
const GAP = 28;
const MARGIN = 40;
const LETTER = 7.3;
/** A drawing up to this width is still legible when it is scaled to a phone. */
const SMALL = 440;

/** A drawing of a state machine: rows from the start downwards, an arrow per move. With a list of the moves for readers. */
export function stateGraph(name: string, table: Table): Html {
  const edges = edgesOf(table);
  const rows = rowsOf(edges);
  const boxes = placed(rows);
  const width = Math.max(...[...boxes.values()].map(({ x, width: own }) => x + own)) + MARGIN;
  const height = rows.length * ROW - (ROW - HEIGHT) + 2 * 12;
  const ends = new Set(Object.keys(table).filter((state) => table[state]?.length === 0));
  const id = `moves-${name}`;
  return html`<figure class="machine"><div class="graph${width <= SMALL && ' small'}" tabindex="0" role="region" aria-label="State machine of ${name}"><svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="State machine of ${name}. The moves are listed below the drawing."><defs><marker id="${id}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path class="head" d="M0 0L10 5L0 10z"/></marker></defs>${edges.map((edge) => arrow(edge, boxes, id, width))}${[...boxes].map(([state, box]) => node(state, box, ends.has(state)))}</svg></div><details class="inner"><summary>The moves as a list</summary><ul class="moves">${moves(table)}</ul></details></figure>`;
}

function moves(table: Table): Html[] {
  return Object.entries(table).map(([from, to]) => {
    const next = to.map((state, i) => html`${i > 0 && ', '}<code>${state}</code>`);
    const first =
      from === START ? html`First comes` : html`After <code>${from}</code>${to.length > 0 && ':'}`;
    return html`<li>${first} ${to.length > 0 ? next : from === START ? '' : 'nothing: it is the end'}</li>`;
  });
}

/** The moves; those from nearly everywhere to one state are drawn as one. */
function edgesOf(table: Table): Edge[] {
  const states = Object.keys(table).filter((state) => state !== START);
  const sources = (to: string) => Object.keys(table).filter((from) => table[from]?.includes(to));
  const common = states.filter(
    (to) =>
      states.length > 4 &&
      sources(to).filter((from) => from !== START).length >= 3 &&
      sources(to).length >= states.length - 2,
  );
  const own = Object.entries(table).flatMap(([from, targets]) =>
    targets.filter((to) => !common.includes(to)).map((to) => ({ from, to })),
  );
  return [...own, ...common.map((to) => ({ from: ANY, to }))];
}

/** The states by their distance from the start. A state that only ends a process is drawn below what leads to it. */
function rowsOf(edges: readonly Edge[]): string[][] {
  const distance = new Map<string, number>([[START, 0]]);
  const queue = [START];
  for (const state of queue) {
    for (const { from, to } of edges) {
      if (from !== state || distance.has(to)) continue;
      distance.set(to, (distance.get(from) ?? 0) + 1);
      queue.push(to);
    }
  }
  const unreached = edges.filter(({ to, from }) => !distance.has(to) && from === ANY).map(({ to }) => to);
  const last = Math.max(...distance.values());
  if (unreached.length > 0) distance.set(ANY, last + 1);
  for (const state of unreached) distance.set(state, last + 2);
  const rows: string[][] = [];
  for (const [state, row] of distance) rows[row] = [...(rows[row] ?? []), state];
  return rows.map((row) => byParent(row, edges, rows));
}

/** Keeps what belongs together below each other: by the place of the first state that leads to it. */
function byParent(row: string[], edges: readonly Edge[], rows: readonly string[][]): string[] {
  const place = (state: string) => {
    const places = edges
      .filter(({ to }) => to === state)
      .flatMap(({ from }) => rows.map((each) => each.indexOf(from) / Math.max(each.length - 1, 1)))
      .filter((at) => at >= 0);
    return places.length > 0 ? Math.min(...places) : 0;
  };
  return [...row].sort((a, b) => place(a) - place(b));
}

function placed(rows: readonly string[][]): Map<string, Box> {
  const widthOf = (state: string) => (state === START ? 20 : Math.ceil(state.length * LETTER + 26));
  const total = (row: readonly string[]) =>
    row.reduce((sum, state) => sum + widthOf(state), 0) + GAP * (row.length - 1);
  const widest = Math.max(...rows.map(total));
  const boxes = new Map<string, Box>();
  rows.forEach((row, index) => {
    let x = MARGIN + (widest - total(row)) / 2;
    for (const state of row) {
      boxes.set(state, { x: Math.round(x), y: 12 + index * ROW, width: widthOf(state) });
      x += widthOf(state) + GAP;
    }
  });
  return boxes;
}

function node(state: string, { x, y, width }: Box, isEnd: boolean): Html {
  if (state === START)
    return html`<circle class="start" cx="${x + width / 2}" cy="${y + HEIGHT - 8}" r="8"><title>start</title></circle>`;
  const kind = state === ANY ? 'any' : isEnd ? 'end' : 'state';
  return html`<g class="${kind}"><rect x="${x}" y="${y}" width="${width}" height="${HEIGHT}" rx="8"/><text x="${x + width / 2}" y="${y + HEIGHT / 2 + 4}" text-anchor="middle">${state}</text></g>`;
}

function arrow(
  { from, to }: Edge,
  boxes: ReadonlyMap<string, Box>,
  id: string,
  width: number,
): Html | undefined {
  const [a, b] = [boxes.get(from), boxes.get(to)];
  if (!a || !b) return undefined;
  return html`<path class="move" d="${course(a, b, width)}" marker-end="url(#${id})"/>`;
}

/** The course of an arrow: to the next row, beside a row, or around what lies between. */
function course(a: Box, b: Box, width: number): string {
  const [ax, bx] = [a.x + a.width / 2, b.x + b.width / 2];
  if (b.y === a.y) return beside(a, b);
  if (Math.abs(b.y - a.y) > ROW) return around(a, b, ax + bx < width);
  if (b.y > a.y) return curve(ax, a.y + HEIGHT, bx, b.y, 26);
  // Back up: a little to the right of the way down.
  const shift = Math.abs(ax - bx) < 20 ? 16 : 12;
  return curve(ax + shift, a.y, bx + shift, b.y + HEIGHT, -26);
}

function curve(x1: number, y1: number, x2: number, y2: number, bend: number): string {
  return `M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`;
}

/** Within a row: straight to the neighbour, in an arc above what lies between. */
function beside(a: Box, b: Box): string {
  const isRight = b.x > a.x;
  const [x1, x2] = isRight ? [a.x + a.width, b.x] : [a.x, b.x + b.width];
  if (Math.abs(x2 - x1) <= GAP + 1) return `M${x1} ${a.y + HEIGHT / 2 + (isRight ? -5 : 5)}H${x2}`;
  const [ax, bx] = [a.x + a.width / 2, b.x + b.width / 2];
  return `M${ax} ${a.y}C${ax} ${a.y - 34} ${bx} ${b.y - 34} ${bx} ${b.y}`;
}

/** Past the rows between, on the left or the right of both boxes. */
function around(a: Box, b: Box, isLeft: boolean): string {
  const side = isLeft ? Math.min(a.x, b.x) - 16 : Math.max(a.x + a.width, b.x + b.width) + 16;
  const [x1, x2] = isLeft ? [a.x, b.x] : [a.x + a.width, b.x + b.width];
  const [y1, y2] = [a.y + HEIGHT / 2, b.y + HEIGHT / 2];
  const turn = y2 > y1 ? 24 : -24;
  return `M${x1} ${y1}C${side} ${y1} ${side} ${y1} ${side} ${y1 + turn}V${y2 - turn}C${side} ${y2} ${side} ${y2} ${x2} ${y2}`;
}
