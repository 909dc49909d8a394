import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { clock } from '../api/api.ts';
import { endpointsQuery } from '../api/reads.ts';
import { useSession } from '../api/session.ts';
import { Button } from '../parts/controls.tsx';
import { ErrorPanel } from '../parts/screen.tsx';
import { counted } from '../parts/words.ts';
import { csvOf } from './csv.ts';
import { fileNameOf, stampOf } from './file-name.ts';
import { type Lists, ROWS_MAX, readTable } from './list-rows.ts';
import { save } from './save.ts';

interface Props {
  readonly lists: Lists;
  /** Names the list in the name of the file. */
  readonly what: string;
}

/** Saves all pages of lists as CSV. A press while it reads ends it. */
export function CsvButton({ lists, what }: Props) {
  const client = useQueryClient();
  const merchant = useSession()?.merchant_name ?? '';
  const [read, setRead] = useState(0);
  const ending = useRef<AbortController>(undefined);
  useEffect(() => () => ending.current?.abort(), []);
  const { mutate, reset, data, error, isPending } = useMutation({
    mutationFn: async () => {
      ending.current = new AbortController();
      const { signal } = ending.current;
      setRead(0);
      const endpoints = await client.ensureQueryData(endpointsQuery);
      const { rows, isCut } = await readTable(lists, { endpoints, signal, onRead: setRead });
      const [newest, oldest] = [rows[1]?.[0], rows.at(-1)?.[0]];
      if (newest && oldest) {
        const name = [merchant, what, stampOf(oldest), stampOf(newest), 'saved', stampOf(clock.now())];
        save(fileNameOf(name, 'csv'), csvOf(rows), 'text/csv');
      }
      return { saved: rows.length - 1, isCut };
    },
  });
  const stop = () => {
    ending.current?.abort();
    reset();
  };
  return (
    <span className="csv">
      <Button onClick={() => (isPending ? stop() : mutate())}>{isPending ? 'Stop' : 'CSV'}</Button>{' '}
      <span className="note" role="status">
        {isPending ? `${read.toLocaleString('en')} read…` : data === undefined ? '' : savedOf(data)}
      </span>
      <ErrorPanel error={error} />
    </span>
  );
}

function savedOf({ saved, isCut }: { readonly saved: number; readonly isCut: boolean }): string {
  if (saved === 0) return 'No row matches, so there is no file.';
  const rows = `${counted(saved, 'row')} saved.`;
  return isCut
    ? `${rows} The file ends at ${ROWS_MAX.toLocaleString('en')} of a list: narrow it down for older ones.`
    : rows;
}
