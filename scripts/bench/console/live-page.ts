import type { CDPSession, Page } from 'playwright-core';
import { findBrowser, openBrowser } from '../../browser.ts';

/** How the page of Live did in a browser while events arrived. */
export interface LivePage {
  /** Milliseconds from the press of "Open" until the first row is shown, and from the request until the first paint. */
  readonly firstRowMs: number;
  readonly firstPaintMs: number;
  readonly frames: number;
  readonly framesPerSecond: number;
  /** Milliseconds of script and of all work of the page's thread, for each frame. */
  readonly scriptMsPerFrame: number;
  readonly taskMsPerFrame: number;
  readonly longestFrameMs: number;
  /** Memory of the page's scripts after a collection, MiB: in the middle of the time, and at its end. */
  readonly heapMiB: { readonly middle: number; readonly end: number };
  readonly rowsInDocument: number;
}

const MIB = 1024 * 1024;
const WAIT_MS_MAX = 60_000;
const SETTLED_MS = 3000;

/** Notes each frame from now on. As text: it runs in the page. */
const COUNT_FRAMES = `(() => {
  const counted = { frames: 0, longest: 0, last: performance.now() };
  globalThis.counted = counted;
  const frame = (at) => {
    counted.frames += 1;
    counted.longest = Math.max(counted.longest, at - counted.last);
    counted.last = at;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
})()`;
const FIRST_PAINT = `performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN`;

/** Opens Live by a link, and looks at it while `arrive` lets events arrive. Throws without a browser. */
export async function measureLivePage(link: string, arrive: () => Promise<unknown>): Promise<LivePage> {
  const path = findBrowser();
  if (path === undefined) throw new Error('a browser is needed: install chromium');
  const browser = await openBrowser(path);
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    page.setDefaultTimeout(WAIT_MS_MAX);
    await page.goto(link);
    const firstRowMs = await firstRow(page);
    const firstPaintMs: number = await page.evaluate(FIRST_PAINT);
    const inside = await page.context().newCDPSession(page);
    await inside.send('Performance.enable');
    return { firstPaintMs, firstRowMs, ...(await watched(page, inside, arrive)) };
  } finally {
    await browser.close();
  }
}

async function firstRow(page: Page): Promise<number> {
  const open = page.getByRole('button', { name: 'Open' });
  await open.waitFor();
  const from = performance.now();
  await open.click();
  await page.locator('.all-rows .line').first().waitFor();
  return performance.now() - from;
}

async function watched(page: Page, inside: CDPSession, arrive: () => Promise<unknown>) {
  await page.waitForTimeout(SETTLED_MS);
  const before = await metricsOf(inside);
  await page.evaluate(COUNT_FRAMES);
  const from = performance.now();
  let isOver = false;
  const arriving = arrive().finally(() => {
    isOver = true;
  });
  const heaps: number[] = [];
  while (!isOver) {
    await Promise.race([arriving, page.waitForTimeout(SETTLED_MS)]);
    heaps.push(await heapOf(inside));
  }
  const seconds = (performance.now() - from) / 1000;
  const { frames, longest }: { frames: number; longest: number } = await page.evaluate('counted');
  const after = await metricsOf(inside);
  const perFrame = (name: string) => (1000 * ((after[name] ?? 0) - (before[name] ?? 0))) / frames;
  return {
    frames,
    framesPerSecond: frames / seconds,
    scriptMsPerFrame: perFrame('ScriptDuration'),
    taskMsPerFrame: perFrame('TaskDuration'),
    longestFrameMs: longest,
    heapMiB: { middle: heaps[Math.floor(heaps.length / 2)] ?? Number.NaN, end: heaps.at(-1) ?? Number.NaN },
    rowsInDocument: await page.locator('.all-rows .line').count(),
  };
}

async function metricsOf(inside: CDPSession): Promise<Readonly<Record<string, number>>> {
  const { metrics } = await inside.send('Performance.getMetrics');
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
}

async function heapOf(inside: CDPSession): Promise<number> {
  await inside.send('HeapProfiler.collectGarbage');
  return ((await metricsOf(inside)).JSHeapUsedSize ?? Number.NaN) / MIB;
}

export function livePageText(page: LivePage): string {
  const { heapMiB: heap, framesPerSecond: rate } = page;
  const ms = (value: number) => `${value.toFixed(1)} ms`;
  return [
    `  page of Live: first paint ${ms(page.firstPaintMs)}, first row ${ms(page.firstRowMs)} after the press of "Open"`,
    `  ${page.frames} frames, ${rate.toFixed(0)} a second: script ${ms(page.scriptMsPerFrame)} and all work ${ms(page.taskMsPerFrame)} a frame, the longest after ${ms(page.longestFrameMs)}`,
    `  memory ${heap.middle.toFixed(1)} MiB in the middle of the time, ${heap.end.toFixed(1)} MiB at its end; ${page.rowsInDocument} rows in the document`,
  ].join('\n');
}
