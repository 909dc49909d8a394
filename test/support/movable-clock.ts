import { type Clock, systemClock } from '../../services/process/clock.ts';

/** The system clock with an offset that a test can advance; `setWall` moves the wall clock only. */
export function movableClock(): Clock & { forward(ms: number): void; setWall(ms: number): void } {
  const clock = systemClock();
  let ahead = 0;
  let wallAhead = 0;
  return {
    ...clock,
    now: () => clock.now() + ahead,
    wall: () => clock.wall() + ahead + wallAhead,
    setWall: (ms) => {
      wallAhead += ms;
    },
    at: (due, callback) => clock.at(due - ahead, callback),
    forward: (ms) => {
      ahead += ms;
    },
  };
}
