import { useEffect } from 'react';

/** Names the screen in the browser's tab and history. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · hookrail`;
  }, [title]);
}
