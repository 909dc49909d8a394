import { useEffect } from 'react';
import { visible } from '../../services/domain/text/visible-text.ts';
import { pageSetting } from './page-settings.ts';

/** Names the screen in the browser's tab and history. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${visible(title)} · ${pageSetting('name')}`;
  }, [title]);
}
