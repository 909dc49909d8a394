import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useEffect, useRef } from 'react';

const isApple = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** One field for any id; ⌘K or Ctrl-K goes to it from everywhere. */
export function FindField() {
  const field = useRef<HTMLInputElement>(null);
  const navigate = useNavigate();
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      field.current?.focus();
      field.current?.select();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  const find = (event: FormEvent) => {
    event.preventDefault();
    const id = field.current?.value.trim() ?? '';
    if (id === '') return;
    field.current?.blur();
    void navigate({ to: '/find/$id', params: { id } });
  };
  return (
    <search className="find">
      <form onSubmit={find}>
        <input
          ref={field}
          type="text"
          aria-label="Find any id"
          aria-keyshortcuts="Meta+K Control+K"
          placeholder="Find any id: transaction, user, event, delivery…"
          maxLength={128}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          enterKeyHint="search"
        />
        <kbd>{isApple ? '⌘K' : 'Ctrl K'}</kbd>
      </form>
    </search>
  );
}
