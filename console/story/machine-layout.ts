import { START, type Table } from '../../services/domain/catalog/machines.ts';

const COLUMN_GAP = 44;
const ROW_GAP = 22;
const BOX_HEIGHT = 30;
const CHARACTER_WIDTH = 7.7;
const BOX_PADDING = 24;
const MARGIN = 6;
/** Room above and below for arrows that go back. */
const BEND = 26;

interface Box {
  readonly state: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Lays a state machine out from left to right: a column for each number of steps from the start, the usual way on top. */
export function layOutMachine(table: Table) {
  const columns = columnsOf(table);
  const boxes: Box[] = [];
  let x = MARGIN;
  let height = 0;
  for (const states of columns) {
    const width = Math.max(...states.map((state) => state.length)) * CHARACTER_WIDTH + BOX_PADDING;
    for (const [row, state] of states.entries()) {
      const y = BEND + row * (BOX_HEIGHT + ROW_GAP);
      boxes.push({ state, x, y, width, height: BOX_HEIGHT });
      height = Math.max(height, y + BOX_HEIGHT + BEND);
    }
    x += width + COLUMN_GAP;
  }
  const boxOf = new Map(boxes.map((box) => [box.state, box]));
  const arrows = Object.entries(table).flatMap(([from, followers]) =>
    from === START
      ? []
      : followers.flatMap((to) => {
          const [a, b] = [boxOf.get(from), boxOf.get(to)];
          return a && b ? [{ from, to, path: pathOf(a, b) }] : [];
        }),
  );
  return { width: x - COLUMN_GAP + MARGIN, height, boxes, arrows };
}

/** Returns the states by their distance from the start, in the order in which the table names them. */
function columnsOf(table: Table): readonly (readonly string[])[] {
  const columns: string[][] = [];
  const seen = new Set([START]);
  let next = [...(table[START] ?? [])];
  while (next.length > 0) {
    const column = next.filter((state, index) => !seen.has(state) && next.indexOf(state) === index);
    for (const state of column) seen.add(state);
    if (column.length > 0) columns.push(column);
    next = column.flatMap((state) => table[state] ?? []).filter((state) => !seen.has(state));
  }
  return columns;
}

function pathOf(from: Box, to: Box): string {
  const [fromY, toY] = [from.y + from.height / 2, to.y + to.height / 2];
  if (to.x > from.x) {
    const [startX, endX] = [from.x + from.width, to.x - 2];
    const bend = Math.min(COLUMN_GAP, (endX - startX) / 2);
    return `M${startX} ${fromY} C${startX + bend} ${fromY} ${endX - bend} ${toY} ${endX} ${toY}`;
  }
  if (to.x === from.x) {
    const isDown = to.y > from.y;
    const x = from.x + from.width * (isDown ? 0.62 : 0.38);
    return `M${x} ${isDown ? from.y + from.height : from.y} L${x} ${isDown ? to.y - 2 : to.y + to.height + 2}`;
  }
  // Back: below both boxes.
  const [startX, endX] = [from.x + from.width / 2, to.x + to.width / 2];
  const [startY, endY] = [from.y + from.height, to.y + to.height + 2];
  const low = Math.max(startY, endY) + BEND * 0.8;
  return `M${startX} ${startY} C${startX} ${low} ${endX} ${low} ${endX} ${endY}`;
}
