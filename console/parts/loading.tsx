import { useEffect, useState } from 'react';

const SHOWN_AFTER_MS = 300;

/** Says that something is read; nothing flashes when it is there at once. */
export function Loading() {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), SHOWN_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p className="loading" role="status">
      {isShown ? 'Loading…' : ''}
    </p>
  );
}
