import { useSession } from '../api/session.ts';

/** Returns why this session changes nothing; undefined for one that may. */
export function useReadOnly(): string | undefined {
  return useSession()?.access === 'write' ? undefined : 'Your link is read-only.';
}
