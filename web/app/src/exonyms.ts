// Names of large cities in another language than that of the table of towns: local ones, and English ones.
export const EXONYMS: readonly (readonly [name: string, listed: string])[] = [
  ['München', 'Munich'], ['Wien', 'Vienna'], ['Cologne', 'Köln'], ['Praha', 'Prague'], ['Roma', 'Rome'], ['København', 'Copenhagen'],
  ['Geneva', 'Genève'], ['Genf', 'Genève'], ['Lisboa', 'Lisbon'], ['Napoli', 'Naples'], ['Firenze', 'Florence'], ['Venezia', 'Venice'],
  ['Nuremberg', 'Nürnberg'], ['Bruxelles', 'Brussels'], ['Brussel', 'Brussels'], ['Antwerp', 'Antwerpen'], ['Warszawa', 'Warsaw'],
  ['Moskva', 'Moscow'], ['Gothenburg', 'Göteborg'], ['Milano', 'Milan'], ['Torino', 'Turin'], ['Genova', 'Genoa'], ['Padua', 'Padova'],
  ['Den Haag', 'The Hague'], ['București', 'Bucharest'], ['Beograd', 'Belgrade'], ['Seville', 'Sevilla'], ['Athina', 'Athens'],
  ['Kiev', 'Kyiv'], ['Hanover', 'Hannover'], ['Brunswick', 'Braunschweig'], ['Basle', 'Basel'], ['Lucerne', 'Luzern'],
  ['Krakow', 'Kraków'], ['Cracow', 'Kraków'], ['Danzig', 'Gdańsk'], ['Breslau', 'Wrocław'], ['Sankt-Peterburg', 'Saint Petersburg'],
  ['Helsingfors', 'Helsinki'], ['Åbo', 'Turku'], ['Luik', 'Liège'], ['Ghent', 'Gent'], ['Marseilles', 'Marseille'], ['Lyons', 'Lyon'],
  ['Saragossa', 'Zaragoza'], ['Peking', 'Beijing'], ['Bombay', 'Mumbai'], ['Calcutta', 'Kolkata'], ['Madras', 'Chennai'], ['Bangalore', 'Bengaluru'],
  ['Saigon', 'Ho Chi Minh City'], ['Ciudad de México', 'Mexico City'], ['Teheran', 'Tehran'], ['Bagdad', 'Baghdad'],
];
