/** Parses CSV as a spreadsheet does: a quotation mark opens a cell only where the cell begins. */
export function parsedCsv(csv: string, separator: string): readonly (readonly string[])[] {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = '';
  let isQuoted = false;
  let isBegun = false;
  const end = () => {
    row.push(cell);
    [cell, isBegun] = ['', false];
  };
  const text = csv.replace(/^\ufeff/, '');
  for (let place = 0; place < text.length; place += 1) {
    const character = text[place] ?? '';
    if (isQuoted) {
      if (character !== '"') cell += character;
      else if (text[place + 1] === '"') {
        cell += '"';
        place += 1;
      } else isQuoted = false;
    } else if (character === '"' && !isBegun) [isQuoted, isBegun] = [true, true];
    else if (character === separator) end();
    else if (character === '\n') {
      end();
      rows.push(row);
      row = [];
    } else if (character !== '\r') {
      cell += character;
      isBegun = true;
    }
  }
  return rows;
}
