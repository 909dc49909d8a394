/** Returns the pause before the next try, after so many failures in a row: `firstMs`, then twice the one before, up to `mostMs`. */
export function growingPause(failures: number, firstMs: number, mostMs: number): number {
  return Math.min(firstMs * 2 ** (failures - 1), mostMs);
}
