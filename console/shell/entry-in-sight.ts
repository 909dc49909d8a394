import { useLocation } from '@tanstack/react-router';
import { useEffect } from 'react';

/** Keeps the entry of the present screen in sight where the row of screens scrolls. */
export function useEntryInSight(): void {
  const path = useLocation({ select: ({ pathname }) => pathname });
  useEffect(() => {
    const row = document.querySelector<HTMLElement>('.bar nav');
    const entry = row?.querySelector<HTMLElement>('.active');
    if (path === '' || !row || !entry) return;
    // scrollIntoView() would also move the place from which Tab goes on.
    const before = entry.offsetLeft - row.offsetLeft;
    row.scrollLeft = before - (row.clientWidth - entry.offsetWidth) / 2;
  }, [path]);
}
