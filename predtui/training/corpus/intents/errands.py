"""What reminders and lists are about: things to buy and things to do, wide enough to learn copying from."""

from __future__ import annotations

THINGS = tuple(
    line.strip()
    for line in """
milk; bread; butter; eggs; cheese; yogurt; cream; flour; sugar; salt; pepper; rice; pasta; noodles; oats;
cereal; honey; jam; peanut butter; olive oil; vinegar; mustard; ketchup; mayonnaise; soy sauce; tomatoes;
potatoes; onions; garlic; carrots; celery; cucumbers; lettuce; spinach; cabbage; broccoli; cauliflower; peppers;
mushrooms; zucchini; eggplant; corn; peas; beans; lentils; chickpeas; apples; bananas; oranges; lemons; limes;
pears; peaches; plums; grapes; cherries; strawberries; raspberries; blueberries; melons; pineapple; mangoes;
kiwis; avocados; dates; raisins; almonds; walnuts; cashews; chicken; beef; pork; ham; bacon; sausages; turkey;
lamb; salmon; tuna; shrimp; cod; tofu; hummus; olives; pickles; chips; crackers; cookies; chocolate; candy;
cake; ice cream; popcorn; tea; coffee; juice; apple juice; orange juice; water; sparkling water; lemonade; beer;
wine; cocoa; cinnamon; vanilla; baking powder; yeast; basil; parsley; mint; thyme; ginger; toilet paper; paper
towels; tissues; napkins; soap; hand soap; shampoo; conditioner; toothpaste; a toothbrush; dental floss;
deodorant; sunscreen; lotion; razors; shaving foam; cotton pads; bandages; aspirin; vitamins; cough drops; dish
soap; laundry detergent; bleach; sponges; trash bags; foil; baking paper; freezer bags; candles; matches; a
lighter; batteries; light bulbs; an extension cord; tape; glue; scissors; pens; pencils; an eraser; notebooks;
envelopes; stamps; printer paper; ink; a folder; a stapler; a birthday card; wrapping paper; a gift; balloons;
flowers; a vase; potting soil; seeds; a rake; a hose; gloves; a broom; a mop; a bucket; a hammer; nails; screws;
a screwdriver; paint; a brush; a ladder; a doormat; towels; sheets; a pillow; a blanket; socks; a belt; a hat; a
scarf; an umbrella; a raincoat; sandals; slippers; shoelaces; cat food; dog food; bird seed; fish food; cat
litter; a leash; diapers; baby wipes; baby food; a bib; crayons; a puzzle; a ball; a kite; a board game; a
magazine; a newspaper; a phone charger; headphones; a mouse; a keyboard; a memory card
""".replace("\n", " ").split(";")
)

TASKS = tuple(
    line.strip()
    for line in """
call mom; call dad; call grandma; call the doctor; call the dentist; call the bank; call the plumber; call the
school; email the teacher; email the boss; write to Anna; text Peter; answer Maria; thank Tom; visit Lisa; meet
Paul; invite Sarah; water the plants; feed the cat; feed the dog; feed the fish; walk the dog; brush the cat;
clean the cage; mow the lawn; rake the leaves; weed the garden; pick the tomatoes; trim the hedge; wash the car;
check the tires; fill the tank; charge the phone; charge the laptop; back up the photos; update the computer;
restart the router; print the tickets; print the report; finish the report; read the report; send the invoice;
pay the rent; pay the bills; pay the electric bill; pay the water bill; check the mail; mail the letter; pick up
the package; return the package; return the books; renew the passport; renew the license; book the flight; book
a table; book a hotel; pack the bags; buy the tickets; check the weather; take out the trash; take out the
recycling; do the laundry; fold the laundry; hang up the laundry; iron the shirts; do the dishes; empty the
dishwasher; clean the kitchen; clean the bathroom; clean the windows; sweep the floor; mop the floor; vacuum the
carpet; dust the shelves; make the bed; change the sheets; tidy the garage; fix the bike; fix the lamp; change
the light bulb; change the filter; test the smoke alarm; lock the door; close the windows; turn off the oven;
turn off the lights; turn on the heating; start the dishwasher; preheat the oven; bake a cake; bake the bread;
cook dinner; cook the rice; make lunch; make coffee; pack the lunch; defrost the chicken; boil the eggs; check
the oven; stir the soup; take the pills; take the medicine; take a break; drink water; stretch; go for a walk;
go for a run; go to the gym; go to bed; get up; do yoga; meditate; practice the piano; practice the guitar;
study math; study Spanish; learn the poem; do the homework; check the homework; read a book; read a story; write
the essay; write the diary; plan the party; plan the trip; order pizza; order the cake; wrap the gift; sign the
form; fill in the form; scan the letter; file the taxes; join the meeting; start the meeting; prepare the
slides; review the slides; pick up the kids; pick up the laundry; drop off the kids; take the bus; catch the
train; leave the house; move the car; watch the game; watch the news; record the show; listen to the concert;
set the table; light the candles; shut the gate; cancel the order; cancel the subscription; check the bank
account; save the file; clear the desk; sort the papers; empty the trash; cut the grass; paint the fence;
sharpen the knives; polish the shoes; sew the button; knit the scarf
""".replace("\n", " ").split(";")
)
