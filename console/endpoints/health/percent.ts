/** Returns a share as a person writes it. It is 100 % only of all, and 0 % only of none. */
export function percentOf(part: number, whole: number): string {
  const percent = (part / whole) * 100;
  if (part === whole || part === 0) return `${percent} %`;
  return `${Math.min(99.9, Math.max(0.1, percent)).toFixed(1)} %`;
}
