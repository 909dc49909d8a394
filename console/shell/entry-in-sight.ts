import { useLocation } from '@tanstack/react-router';
import { useEffect } from 'react';

/** Keeps the entry of the present screen in sight where the row of screens scrolls. */
export function useEntryInSight(): void {
  const path = useLocation({ select: ({ pathname }) => pathname });
  useEffect(() => {
    if (path === '') return;
    document.querySelector('.bar nav .active')?.scrollIntoView({ inline: 'center', block: 'nearest' });
  }, [path]);
}
